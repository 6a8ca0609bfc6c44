// SPDX-License-Identifier: Apache-2.0
// Finds the unit of the code at an address, from .debug_aranges. That section is only an index: for
// units that are missing in it (clang writes none), or that have less code in it than in their root
// entries (llvm-bolt, linkers), the ranges of the root entries are used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/dwarf/unit.h"

namespace perftape::dwarf {

// Movable, not copyable.
class UnitMap {
 public:
  UnitMap(UnitMap&&) = default;
  UnitMap& operator=(UnitMap&&) = default;

  // A range of code, and the index of its unit among the headers.
  struct Entry {
    Extent extent;
    std::uint32_t unit = 0;
    std::uint32_t reserved = 0;  // indexes are written to files as they are in memory
  };

  // Several units may claim the same code, such as inline functions of a header. Then the choice is
  // that of LLVM's DWARFDebugAranges: the unit of the preceding code, else the first in the
  // section. `work` and `work_limit` are those of UnitIndexBuilder.
  static UnitMap Read(const Sections& sections, std::span<const UnitHeader> headers,
                      std::span<const Extent> code, std::uint64_t& work, std::uint64_t work_limit);

  // Views a saved map. `sorted` must outlive it.
  explicit UnitMap(std::span<const Entry> sorted) : entries_(sorted) {}
  UnitMap() = default;

  // The index among the headers of the unit at `address`. Nothing if no unit covers it.
  std::optional<std::uint32_t> Find(std::uint64_t address) const;

  std::span<const Entry> entries() const { return entries_; }  // sorted, without overlaps

 private:
  static UnitMap FromClaims(std::span<const Entry> claims);

  std::vector<Entry> owned_;
  std::span<const Entry> entries_;  // views `owned_` or a saved map
};

}  // namespace perftape::dwarf
