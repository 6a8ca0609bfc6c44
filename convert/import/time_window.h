// SPDX-License-Identifier: Apache-2.0
// A range of a recording's time, on the clock of the recording.
#pragma once

#include <cstdint>

#include "convert/import/import_options.h"

namespace perftape::convert {

// In nanoseconds; both ends are inclusive.
struct TimeWindow {
  std::int64_t first = 0, last = 0;
  bool Has(std::int64_t time_ns) const { return first <= time_ns && time_ns <= last; }
};

// Converts `range` to times of a recording. `recording` has the times of its first and last
// samples.
TimeWindow Resolve(const TimeRange& range, const TimeWindow& recording);

}  // namespace perftape::convert
