// SPDX-License-Identifier: Apache-2.0
// The clock of all records: CLOCK_MONOTONIC, which bpf_ktime_get_ns() and both events read.
#pragma once

#include <cstdint>
#include <ctime>

#include "formats/base/duration.h"

namespace perftape::record {

// Returns the current time in nanoseconds.
inline std::uint64_t MonotonicNs() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNsPerSecond +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace perftape::record
