// SPDX-License-Identifier: Apache-2.0
// Whether there were more than a number of hits in a second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "formats/base/duration.h"

namespace perftape::record {

// Not thread-safe.
class HitRate {
 public:
  explicit HitRate(std::uint64_t most) : most_(most) {}

  // Adds a hit; times ascend. Returns whether it is one too many in the second before it. Then
  // counting starts again.
  bool Add(std::uint64_t time_ns) {
    while (!times_.empty() && times_.front() + kNsPerSecond <= time_ns) times_.pop_front();
    times_.push_back(time_ns);
    if (times_.size() <= most_) return false;
    times_.clear();
    return true;
  }

 private:
  std::uint64_t most_;
  std::deque<std::uint64_t> times_;  // of the last second
};

}  // namespace perftape::record
