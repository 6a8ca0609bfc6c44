// SPDX-License-Identifier: Apache-2.0
// A table as bytes that can be mapped again: { header; rules; rows }, in the byte order and layout
// of this machine. The decoder checks everything on which Find() relies, so damaged bytes give no
// table or wrong rules, but no other harm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/unwind/table.h"

namespace perftape::unwind {

// `fingerprint` identifies the sections from which the table was built.
std::vector<std::byte> EncodeTable(const Table& table, std::uint64_t fingerprint);

// Returns a table that views `bytes`, and keeps `memory`, which owns them. Returns nothing for
// another format or fingerprint, or if the bytes are damaged.
std::optional<Table> DecodeTable(Bytes bytes, std::uint64_t fingerprint,
                                 std::shared_ptr<const void> memory);

}  // namespace perftape::unwind
