// SPDX-License-Identifier: Apache-2.0
// The nominal period of a clock, for formats that have only the periods of its samples.
#pragma once

#include <cstdint>
#include <string_view>

namespace perftape::convert {

// The kernel samples a clock at a fixed period, so all samples have the same one. For other events,
// a few equal periods can be chance, so their nominal period stays unknown.
class ClockPeriod {
 public:
  // `event` is the name of the event.
  explicit ClockPeriod(std::string_view event);

  // Adds samples with the sum of their periods.
  void Add(std::int64_t count, std::int64_t period) {
    if (is_clock_ && (count != 0 || period != 0)) AddToClock(count, period);
  }

  // Returns the period of each sample; 0 if they differ, if there are none, or for another event.
  std::uint64_t value() const { return value_ > 0 ? static_cast<std::uint64_t>(value_) : 0; }

 private:
  void AddToClock(std::int64_t count, std::int64_t period);

  bool is_clock_ = false;
  bool is_first_ = true;
  std::int64_t value_ = 0;  // -1: they differ
};

}  // namespace perftape::convert
