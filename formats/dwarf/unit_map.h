// SPDX-License-Identifier: Apache-2.0
// Finds the unit of the code at an address, from .debug_aranges. Units that are missing there
// (clang writes none) are found by the ranges of their root entries.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "formats/dwarf/unit.h"

namespace perftape::dwarf {

// May be moved, not copied.
class UnitMap {
 public:
  UnitMap(UnitMap&&) = default;
  UnitMap& operator=(UnitMap&&) = default;

  // A piece of the code of a unit, which is known by its number among the headers.
  struct Entry {
    Extent extent;
    std::uint32_t unit = 0;
    std::uint32_t reserved = 0;  // indexes are written out as they are
  };

  // Where units claim the same code, as those of a header's functions do, the choice is that of
  // LLVM's DWARFDebugAranges: the unit that has it so far, else the first in the section. `work`
  // and `work_limit` as UnitIndexBuilder has them.
  static UnitMap Read(const Sections& sections, std::span<const UnitHeader> headers,
                      std::span<const Extent> code, std::uint64_t& work, std::uint64_t work_limit);

  // One that was kept: `sorted` must outlive it.
  explicit UnitMap(std::span<const Entry> sorted) : entries_(sorted) {}
  UnitMap() = default;

  std::optional<std::uint32_t> Find(std::uint64_t address) const;

  std::span<const Entry> entries() const { return entries_; }  // sorted, without overlaps

 private:
  static UnitMap FromClaims(std::span<const Entry> claims);

  std::vector<Entry> owned_;
  std::span<const Entry> entries_;  // of `owned_`, or of another's
};

}  // namespace perftape::dwarf
