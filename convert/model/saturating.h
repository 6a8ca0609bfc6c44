// SPDX-License-Identifier: Apache-2.0
// Sums of numbers from files, which may contain any number.
#pragma once

#include <cstdint>
#include <limits>

namespace perftape::convert {

// Returns the sum, or the largest number if it overflows.
constexpr std::uint64_t AddUpToLimit(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum < a ? std::numeric_limits<std::uint64_t>::max() : sum;
}

// Returns the sum, or the nearest number if it overflows.
constexpr std::int64_t AddUpToLimit(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

// Returns a - b, or the nearest number if it overflows.
constexpr std::int64_t SubtractUpToLimit(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < b ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

// Returns the product, or the nearest number if it overflows.
constexpr std::int64_t MultiplyUpToLimit(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) != (b < 0) ? std::numeric_limits<std::int64_t>::min()
                            : std::numeric_limits<std::int64_t>::max();
}

// Returns the number, or the largest signed number if it is larger.
constexpr std::int64_t ToSigned(std::uint64_t value) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  return static_cast<std::int64_t>(value < kMax ? value : kMax);
}

}  // namespace perftape::convert
