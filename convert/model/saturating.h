// SPDX-License-Identifier: Apache-2.0
// Sums of what a file says, which may say anything.
#pragma once

#include <cstdint>
#include <limits>

namespace perftape::convert {

// The sum, or the largest number where that is more than it.
constexpr std::uint64_t AddUpToLimit(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum < a ? std::numeric_limits<std::uint64_t>::max() : sum;
}

// The sum, or the number nearest to it that there is.
constexpr std::int64_t AddUpToLimit(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

// The number itself, or the largest where that is less.
constexpr std::int64_t ToSigned(std::uint64_t value) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(value < kMax ? value : kMax);
}

}  // namespace perftape::convert
