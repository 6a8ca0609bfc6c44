// SPDX-License-Identifier: Apache-2.0
// Sums of what a file says, which may say anything.
#pragma once

#include <cstdint>
#include <limits>

namespace perftape {

// The sum, or the largest number where that is more than it.
constexpr std::uint64_t AddUpToLimit(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum < a ? std::numeric_limits<std::uint64_t>::max() : sum;
}

}  // namespace perftape
