// SPDX-License-Identifier: Apache-2.0
// How the stacks of samples with copied registers and stacks were found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "formats/unwind/stack_walk.h"

namespace perftape::offline_unwind {

struct UnwindReport {
  // The walks, by how they ended.
  std::array<std::uint64_t, unwind::kWalkEnds> ends = {};
  std::uint64_t of_32_bit = 0;    // of 32-bit processes, which are not unwound
  std::uint64_t unsupported = 0;  // of processors that are not supported, or without registers
  std::vector<std::string> missing = {};  // binaries without table: "/usr/bin/app: no such file"

  std::uint64_t EndedAs(unwind::WalkEnd end) const { return ends[static_cast<std::size_t>(end)]; }
  std::uint64_t whole() const { return EndedAs(unwind::WalkEnd::kEndOfStack); }
  // All samples with copies.
  std::uint64_t samples() const {
    return std::accumulate(ends.begin(), ends.end(), of_32_bit + unsupported);
  }
  // Adds the counts of another thread, not the missing binaries.
  void AddCounts(const UnwindReport& other) {
    for (std::size_t i = 0; i < ends.size(); ++i) ends[i] += other.ends[i];
    of_32_bit += other.of_32_bit;
    unsupported += other.unsupported;
  }
};

}  // namespace perftape::offline_unwind
