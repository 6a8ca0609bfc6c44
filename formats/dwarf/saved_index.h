// SPDX-License-Identifier: Apache-2.0
// An index as bytes, to be mapped again: { header; map entries; unit headers; arrays }, in the
// order and layout of this machine. Whoever keeps them keeps them whole: here sizes and numbers are
// checked, so that damage gives wrong answers at worst.
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

// `fingerprint` is of the sections that the index was built from.
std::vector<std::byte> EncodeIndex(const SavedIndex& index, std::uint64_t fingerprint);

// Views of `bytes`. Nothing where they are of another format or fingerprint, or contradict
// themselves.
std::optional<SavedIndex> DecodeIndex(Bytes bytes, std::uint64_t fingerprint);

}  // namespace perftape::dwarf
