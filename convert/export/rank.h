// SPDX-License-Identifier: Apache-2.0
// An order of a profile's things by what they are, not by when they were added, so that equal
// profiles become equal files however they came about.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::convert {

// Ranks from 0, at each thing's index in its table. Only things that are exactly equal, which a
// builder makes only by SetLines, keep the order in which they were added.
struct Ranks {
  std::vector<std::uint32_t> mappings;  // by file name, file offset, size, build id, kind, instance
  std::vector<std::uint32_t> functions;  // by name, system name, file name, line
  std::vector<std::uint32_t> locations;  // by mapping, is_folded, offset, lines
  std::vector<std::uint32_t> stacks;     // by frames, root first; a caller before what it calls
  std::vector<std::uint32_t> threads;    // by pid, tid, comm
  std::vector<std::uint32_t> labels;     // by keys, texts, numbers, units
};

Ranks RankAll(const Profile& profile);

// Ranks of sets of labels of `profile`, which need not be in its table. Equal sets have the same.
std::vector<std::uint32_t> RankLabels(std::span<const std::span<const Label>> sets,
                                      const Profile& profile);

// The indices that a table has in the order of its ranks.
std::vector<std::uint32_t> InOrder(const std::vector<std::uint32_t>& ranks);

}  // namespace perftape::convert
