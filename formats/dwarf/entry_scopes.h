// SPDX-License-Identifier: Apache-2.0
// The entries of a unit that give a name to the scope of others: namespaces, types and functions.
// An entry does not refer to its parent, so one pass over the unit collects them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/dwarf/unit.h"

namespace perftape::dwarf {

// An entry with children, all of which are at offsets between `die` and `end`.
struct EnclosingEntry {
  static constexpr std::uint32_t kNoParent = 0xffffffff;

  std::uint64_t die = 0, end = 0;
  std::uint32_t parent = kNoParent;  // the next enclosing one, as an index; blocks are passed over
  std::uint16_t tag = 0;

  bool is_function() const { return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine; }
  bool is_namespace() const { return tag == DW_TAG_namespace || tag == DW_TAG_module; }
};

// Sorted by `die`, so a parent comes before its children. Ends early at damage, and at a limit that
// only forged units reach.
std::vector<EnclosingEntry> ReadEnclosingEntries(const Unit& unit);

// The index of the innermost entry around the one at offset `die`.
std::optional<std::uint32_t> FindEnclosing(std::span<const EnclosingEntry> entries,
                                           std::uint64_t die);

}  // namespace perftape::dwarf
