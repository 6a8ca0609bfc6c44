// SPDX-License-Identifier: Apache-2.0
#include "convert/import/clock_period.h"

#include "formats/perfdata/event_meanings.h"

namespace perftape::convert {

ClockPeriod::ClockPeriod(std::string_view event)
    : is_clock_(perfdata::PeriodMeaningOf(event) == perfdata::PeriodMeaning::kCpuTime) {}

void ClockPeriod::AddToClock(std::int64_t count, std::int64_t period) {
  const bool is_whole = count > 0 && period > 0 && period % count == 0;
  const std::int64_t of_one = is_whole ? period / count : -1;
  if (is_first_) value_ = of_one;
  is_first_ = false;
  if (of_one != value_) value_ = -1;
}

}  // namespace perftape::convert
