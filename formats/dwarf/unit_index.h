// SPDX-License-Identifier: Apache-2.0
// What one unit says of its code, as sorted arrays of numbers: from an address to the row of the
// line program, and to the innermost function or inlined function that it lies in. Names are not in
// it: they are read from the unit when they are asked for, which they are of few.
//
// Where ranges contradict each other, the choice is that of LLVM's DWARFUnit and DWARFDebugLine, so
// that answers agree with llvm-symbolizer's: of functions the one that comes later in the unit, of
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

// A function, or one that was inlined and the call of it. Numbers too large for their fields are 0.
struct Scope {
  std::uint64_t die = 0;            // where in .debug_info the entry lies that tells its name
  std::uint32_t caller = kNoScope;  // what it was inlined into; kNoScope for a function of its own
  std::uint32_t call_file = 0, call_line = 0, call_column = 0;
};

// From `start` up to the next one's, code is of `scope`, or of none.
struct ScopeStart {
  std::uint64_t start = 0;
  std::uint32_t scope = kNoScope;
  std::uint32_t reserved = 0;  // indexes are written out as they are
};

// Views of arrays that are kept elsewhere.
struct UnitIndex {
  std::span<const LineSequence> sequences;
  std::span<const LineRow> rows;
  std::span<const ScopeStart> starts;
  std::span<const Scope> scopes;

  // Null where none is known.
  const LineRow* FindRow(std::uint64_t address) const;
  const Scope* FindScope(std::uint64_t address) const;
  const Scope* CallerOf(const Scope& scope) const {
    return scope.caller < scopes.size() ? &scopes[scope.caller] : nullptr;
  }
};

// The arrays themselves.
struct BuiltUnitIndex {
  LineTable lines;
  std::vector<ScopeStart> starts;
  std::vector<Scope> scopes;

  UnitIndex view() const { return {lines.sequences, lines.rows, starts, scopes}; }
};

// Builds one index after another, in memory that it uses again.
class UnitIndexBuilder {
 public:
  UnitIndexBuilder();
  ~UnitIndexBuilder();

  // One pass over the entries of `unit` (the split one, where there is one), and one over its line
  // program. What lies outside `code` is left out. `work` grows by the bytes that were read of
  // shared sections; beyond `work_limit` the rest is left out.
  BuiltUnitIndex Build(const Unit& unit, std::span<const Extent> code, std::uint64_t& work,
                       std::uint64_t work_limit);

 private:
  struct Space;
  std::unique_ptr<Space> space_;
};

// Only what code the unit's functions cover; for units whose root does not say.
std::vector<Extent> CodeOfFunctions(const Unit& unit, std::span<const Extent> code,
                                    std::uint64_t& work, std::uint64_t work_limit);

}  // namespace perftape::dwarf
