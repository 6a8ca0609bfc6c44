// SPDX-License-Identifier: Apache-2.0
// The index of one unit, as sorted arrays of numbers. It maps an address to the row of the line
// program, and to the innermost function or inlined function. It contains no names. These are read
// from the unit on demand, because few are needed.
//
// If ranges contradict each other, the choice is that of LLVM's DWARFUnit and DWARFDebugLine, so
// that results agree with llvm-symbolizer's. Among functions it is the last one in the unit, among
// sequences the one that ends first.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "formats/dwarf/line_program.h"
#include "formats/dwarf/unit.h"

namespace perftape::dwarf {

inline constexpr std::uint32_t kNoScope = std::numeric_limits<std::uint32_t>::max();

// A function, or an inlined function with its call. Numbers that are too large for a field become
// 0.
struct Scope {
  std::uint64_t die = 0;            // offset in .debug_info of the entry that has the name
  std::uint32_t caller = kNoScope;  // index of the caller; kNoScope unless inlined
  std::uint32_t call_file = 0, call_line = 0, call_column = 0;
};

// From `start` up to the next entry's start, code belongs to `scope`, or to none.
struct ScopeStart {
  std::uint64_t start = 0;
  std::uint32_t scope = kNoScope;
  std::uint32_t reserved = 0;  // indexes are written to files as they are in memory
};

// Views of arrays that another object owns.
struct UnitIndex {
  std::span<const LineSequence> sequences;
  std::span<const LineRow> rows;
  std::span<const ScopeStart> starts;
  std::span<const Scope> scopes;

  // Both return null if nothing is known.
  const LineRow* FindRow(std::uint64_t address) const;
  const Scope* FindScope(std::uint64_t address) const;
  const Scope* CallerOf(const Scope& scope) const {
    return scope.caller < scopes.size() ? &scopes[scope.caller] : nullptr;
  }
};

// The owner of the arrays.
struct BuiltUnitIndex {
  LineTable lines;
  std::vector<ScopeStart> starts;
  std::vector<Scope> scopes;

  UnitIndex view() const { return {lines.sequences, lines.rows, starts, scopes}; }
};

// Builds one index after another and reuses its memory.
class UnitIndexBuilder {
 public:
  UnitIndexBuilder();
  ~UnitIndexBuilder();

  // Makes one pass over the entries of `unit` (the split one, if there is one), and one over its
  // line program. Ignores what is outside `code`. Adds to `work` the bytes that were read from
  // shared sections. Beyond `work_limit` the rest is left out.
  BuiltUnitIndex Build(const Unit& unit, std::span<const Extent> code, std::uint64_t& work,
                       std::uint64_t work_limit);

 private:
  struct Space;
  std::unique_ptr<Space> space_;
};

// The code of the unit's functions, for units whose root entry has no ranges.
std::vector<Extent> CodeOfFunctions(const Unit& unit, std::span<const Extent> code,
                                    std::uint64_t& work, std::uint64_t work_limit);

}  // namespace perftape::dwarf
