// SPDX-License-Identifier: Apache-2.0
// Hands out free addresses of an address space.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "formats/perfdata/abi.h"

namespace perftape::convert {

class AddressAllocator {
 public:
  static constexpr std::uint64_t kPage = 0x1000;
  // The last one that a call chain can hold, also 1 higher, as that of a caller.
  static constexpr std::uint64_t kLast = perfdata::kContextMax - 2;

  // Reserves a range. False if some of it is in use, or it is not in the address space.
  bool Reserve(std::uint64_t start, std::uint64_t size);
  // Reserves a free range above 4 GiB, at the same offset in a page as `like`; nothing
  // if there is none.
  std::optional<std::uint64_t> Allocate(std::uint64_t size, std::uint64_t like);

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // by start
  std::uint64_t next_ = std::uint64_t{1} << 32;  // where Allocate starts to search
};

}  // namespace perftape::convert
