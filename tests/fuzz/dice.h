// SPDX-License-Identifier: Apache-2.0
// Random numbers for mutations: the same seed gives the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>

namespace perftape::fuzz {

class Dice {
 public:
  explicit Dice(std::uint32_t seed) : random_(seed) {}

  // A number below `limit`; 0 if the limit is 0.
  std::size_t Below(std::size_t limit) { return limit < 2 ? 0 : Bits() % limit; }
  bool OneIn(std::size_t n) { return Below(n) == 0; }

  template <class Range>
  auto& OneOf(Range& range) {
    return *(std::begin(range) + static_cast<std::ptrdiff_t>(Below(std::size(range))));
  }

  std::uint32_t Bits() { return static_cast<std::uint32_t>(random_()); }

  // A typical size, count or address in a hostile file.
  std::uint64_t Word() {
    constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    constexpr std::uint64_t kTelling[] = {0,     1,         7,         8,           kMost,
                                          65535, 65536,     kMost - 7, kMost >> 1,  kMost / 8 + 1,
                                          0x7f,  kMost - 8, 1u << 31,  0xffffffffu, kMost / 16 + 1};
    switch (Below(4)) {
      case 0:
        return OneOf(kTelling);
      case 1:
        return Below(64);
      case 2:
        return std::uint64_t{1} << Below(64);
      default:
        return std::uint64_t{Bits()} << 32 | Bits();
    }
  }

 private:
  std::minstd_rand random_;
};

}  // namespace perftape::fuzz
