// SPDX-License-Identifier: Apache-2.0
// Walks the entries of a unit and finds its functions and the calls inlined into them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/dwarf/unit_index.h"

namespace perftape::dwarf {

// A contiguous range of a scope's code.
struct ScopeExtent {
  Extent extent;
  std::uint32_t scope = 0;
};

struct ScopeWalk {
  std::vector<Scope> scopes;         // callers before the functions inlined into them
  std::vector<ScopeExtent> extents;  // in the order of the entries
};

// Ends early at damage. Ignores code that does not begin within `code`, and scopes without any
// code. `work` and `work_limit` are those of UnitIndexBuilder. Reuses the memory of `space`; its
// content is ignored.
ScopeWalk WalkScopes(const Unit& unit, std::span<const Extent> code, std::uint64_t& work,
                     std::uint64_t work_limit, ScopeWalk space = {});

// Converts extents to a sorted list without overlaps. Where two scopes cover the same code, the one
// with the higher start gets it, or else the one with the higher index. Sorts `extents`. Reuses the
// memory of `space`.
std::vector<ScopeStart> Flatten(std::span<ScopeExtent> extents, std::vector<ScopeStart> space = {});

}  // namespace perftape::dwarf
