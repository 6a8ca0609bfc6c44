// SPDX-License-Identifier: Apache-2.0
// The walk over the entries of a unit that finds its functions and what was inlined into them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/dwarf/unit_index.h"

namespace perftape::dwarf {

// A piece of a scope's code.
struct ScopeExtent {
  Extent extent;
  std::uint32_t scope = 0;
};

struct ScopeWalk {
  std::vector<Scope> scopes;         // callers before what was inlined into them
  std::vector<ScopeExtent> extents;  // in the order of the entries
};

// Ends early at damage. What does not begin within `code` is left out, and so are scopes without
// any code; `work` as BuildUnitIndex has it.
ScopeWalk WalkScopes(const Unit& unit, std::span<const Extent> code, std::uint64_t& work,
                     std::uint64_t work_limit);

// The same code, cut where one scope ends and another begins: of two that claim the same, the one
// that starts later, or comes later.
std::vector<ScopeStart> Flatten(std::vector<ScopeExtent> extents);

}  // namespace perftape::dwarf
