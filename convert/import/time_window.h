// SPDX-License-Identifier: Apache-2.0
// A range of a recording's time as times of its clock.
#pragma once

#include <cstdint>

#include "convert/import/import_options.h"

namespace perftape::convert {

// In nanoseconds; both ends belong to it.
struct TimeWindow {
  std::int64_t first = 0, last = 0;
  bool Has(std::int64_t time_ns) const { return first <= time_ns && time_ns <= last; }
};

// What `range` means for a recording whose samples' first and last times are these.
TimeWindow Resolve(const TimeRange& range, const TimeWindow& recording);

}  // namespace perftape::convert
