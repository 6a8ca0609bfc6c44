// SPDX-License-Identifier: Apache-2.0
#include "convert/import/time_window.h"

#include <gtest/gtest.h>

#include <limits>

namespace perftape::convert {
namespace {

// Ten seconds that begin an hour after the boot.
constexpr TimeWindow kRecording = {.first = 3'600'000'000'000, .last = 3'610'000'000'000};

TEST(TimeWindow, CountsFromTheFirstSample) {
  const TimeWindow window = Resolve({.from = TimePoint{.nanoseconds = 1'000'000'000},
                                     .to = TimePoint{.nanoseconds = 2'000'000'000}},
                                    kRecording);
  EXPECT_EQ(window.first, 3'601'000'000'000);
  EXPECT_EQ(window.last, 3'602'000'000'000);
}

TEST(TimeWindow, AcceptsPercentages) {
  const TimeWindow window =
      Resolve({.from = TimePoint{.percent = 0}, .to = TimePoint{.percent = 25}}, kRecording);
  EXPECT_EQ(window.first, kRecording.first);
  EXPECT_EQ(window.last, 3'602'500'000'000);
  EXPECT_EQ(Resolve({.to = TimePoint{.percent = 100}}, kRecording).last, kRecording.last);
}

TEST(TimeWindow, AcceptsATimeThatPerfScriptPrints) {
  const TimeWindow window =
      Resolve({.from = TimePoint{.nanoseconds = 3'605'000'000'000}}, kRecording);
  EXPECT_EQ(window.first, 3'605'000'000'000);
  EXPECT_EQ(window.last, std::numeric_limits<std::int64_t>::max());
}

TEST(TimeWindow, IsOpenWhereNoEndIsGiven) {
  const TimeWindow window = Resolve({}, kRecording);
  EXPECT_TRUE(window.Has(std::numeric_limits<std::int64_t>::min()));
  EXPECT_TRUE(window.Has(std::numeric_limits<std::int64_t>::max()));
}

TEST(TimeWindow, HoldsBothItsEnds) {
  EXPECT_TRUE(kRecording.Has(kRecording.first));
  EXPECT_TRUE(kRecording.Has(kRecording.last));
  EXPECT_FALSE(kRecording.Has(kRecording.last + 1));
}

}  // namespace
}  // namespace perftape::convert
