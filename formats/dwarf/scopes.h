// SPDX-License-Identifier: Apache-2.0
// Walks the entries of a unit and finds its functions and the calls inlined into them.
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
// any code; `work` as UnitIndexBuilder has it. What is in `space` is of no matter: its memory is
// used again.
ScopeWalk WalkScopes(const Unit& unit, std::span<const Extent> code, std::uint64_t& work,
                     std::uint64_t work_limit, ScopeWalk space = {});

// The same code, cut where one scope ends and another begins: of two that claim the same, the one
// that starts later, or comes later. Sorts `extents`; `space` as WalkScopes has it.
std::vector<ScopeStart> Flatten(std::span<ScopeExtent> extents, std::vector<ScopeStart> space = {});

}  // namespace perftape::dwarf
