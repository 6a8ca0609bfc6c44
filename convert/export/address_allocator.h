// SPDX-License-Identifier: Apache-2.0
// Allocates free ranges of an address space.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "formats/perfdata/abi.h"

namespace perftape::convert {

class AddressAllocator {
 public:
  static constexpr std::uint64_t kPage = 0x1000;
  // The highest address to use. Callers are written as this plus 1, which is still below the
  // context markers (PERF_CONTEXT_MAX).
  static constexpr std::uint64_t kLast = perfdata::kContextMax - 2;

  // Reserves a range. Returns false if part of it is in use or outside the address space.
  bool Reserve(std::uint64_t start, std::uint64_t size);
  // Reserves a free range above 4 GiB, with the same offset within a page as `like`. Returns
  // nothing if none is free.
  std::optional<std::uint64_t> Allocate(std::uint64_t size, std::uint64_t like);

 private:
  std::map<std::uint64_t, std::uint64_t> ends_;  // by start
  std::uint64_t next_ = std::uint64_t{1} << 32;  // Allocate starts to search here
};

}  // namespace perftape::convert
