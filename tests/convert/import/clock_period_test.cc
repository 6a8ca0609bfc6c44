// SPDX-License-Identifier: Apache-2.0
#include "convert/import/clock_period.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace perftape::convert {
namespace {

TEST(ClockPeriod, IsThatOfEachSample) {
  ClockPeriod period("cpu-clock");
  EXPECT_EQ(period.value(), 0U);
  period.Add(1, 250'000);
  period.Add(3, 750'000);
  EXPECT_EQ(period.value(), 250'000U);
}

TEST(ClockPeriod, IsUnknownIfSamplesDiffer) {
  ClockPeriod rates("task-clock:u");
  rates.Add(1, 10);
  rates.Add(1, 20);
  rates.Add(1, 10);
  EXPECT_EQ(rates.value(), 0U);
  ClockPeriod broken("cpu-clock");
  broken.Add(2, 21);
  EXPECT_EQ(broken.value(), 0U);
  ClockPeriod negative("cpu-clock");
  negative.Add(-1, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(negative.value(), 0U);
}

TEST(ClockPeriod, IsUnknownForOtherEvents) {
  for (const char* name : {"cycles", "offcpu-time", "lock-time", ""}) {
    ClockPeriod period(name);
    period.Add(1, 250'000);
    EXPECT_EQ(period.value(), 0U) << name;
  }
}

}  // namespace
}  // namespace perftape::convert
