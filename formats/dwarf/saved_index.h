// SPDX-License-Identifier: Apache-2.0
// An index as bytes that can be mapped again: { header; map entries; unit headers; arrays }, in the
// byte order and layout of this machine. The decoder checks sizes and counts only. So the worst
// effect of other damage is wrong answers; the caller ensures that the bytes are complete.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "formats/dwarf/unit_index.h"
#include "formats/dwarf/unit_map.h"

namespace perftape::dwarf {

struct SavedUnit {
  std::uint32_t unit = 0;
  UnitIndex index;
};

struct SavedIndex {
  std::span<const UnitMap::Entry> map;
  std::vector<SavedUnit> units;
};

// `fingerprint` identifies the sections from which the index was built.
std::vector<std::byte> EncodeIndex(const SavedIndex& index, std::uint64_t fingerprint);

// Returns views of `bytes`. Returns nothing for another format or fingerprint, or contradictory
// sizes.
std::optional<SavedIndex> DecodeIndex(Bytes bytes, std::uint64_t fingerprint);

}  // namespace perftape::dwarf
