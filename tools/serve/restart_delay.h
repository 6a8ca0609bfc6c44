// SPDX-License-Identifier: Apache-2.0
// How long to wait until a process that has ended is started again.
#pragma once

#include <algorithm>
#include <chrono>

namespace perftape::serve {

// One that ends soon after each start is started less and less often.
class RestartDelay {
 public:
  static constexpr std::chrono::seconds kLongest{60};

  // The process ran for this time.
  std::chrono::nanoseconds After(std::chrono::nanoseconds ran) {
    if (ran >= kLongest) next_ = std::chrono::seconds(0);
    const std::chrono::seconds delay = next_;
    next_ = std::clamp(2 * next_, std::chrono::seconds(1), kLongest);
    return delay;
  }

 private:
  std::chrono::seconds next_{0};
};

}  // namespace perftape::serve
