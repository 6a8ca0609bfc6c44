// SPDX-License-Identifier: Apache-2.0
// An order of a profile's entries by value instead of by the order in which they were added. It
// makes equal profiles become equal files.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::convert {

// Ranks from 0, by the entry's index in its table. Only entries that are exactly equal keep the
// order in which they were added. A builder makes such entries only by SetLines.
struct Ranks {
  std::vector<std::uint32_t> mappings;  // by file name, file offset, size, build id, type, instance
  std::vector<std::uint32_t> functions;  // by name, system name, file name, line
  std::vector<std::uint32_t> locations;  // by mapping, its flags, offset, lines
  std::vector<std::uint32_t> stacks;     // by frames, root first; a caller before its callees
  std::vector<std::uint32_t> threads;    // by pid, tid, comm
  std::vector<std::uint32_t> labels;     // by keys, texts, numbers, units
};

Ranks RankAll(const Profile& profile);

// Returns the ranks of sets of labels of `profile`, which need not be in its table. Equal sets have
// equal ranks.
std::vector<std::uint32_t> RankLabels(std::span<const std::span<const Label>> sets,
                                      const Profile& profile);

// The indexes of a table, ordered by rank.
std::vector<std::uint32_t> InOrder(const std::vector<std::uint32_t>& ranks);

}  // namespace perftape::convert
