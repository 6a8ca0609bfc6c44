// SPDX-License-Identifier: Apache-2.0
#include "formats/base/duration.h"

#include <gtest/gtest.h>

namespace perftape {
namespace {

using namespace std::chrono_literals;

TEST(DurationOf, HasEachUnit) {
  EXPECT_EQ(DurationOf("7ns", 1s), 7ns);
  EXPECT_EQ(DurationOf("7us", 1s), 7us);
  EXPECT_EQ(DurationOf("500ms", 1s), 500ms);
  EXPECT_EQ(DurationOf("2.5s", 1s), 2500ms);
  EXPECT_EQ(DurationOf("10m", 1s), 10min);
  EXPECT_EQ(DurationOf("10min", 1s), 10min);
  EXPECT_EQ(DurationOf("12h", 1s), 12h);
  EXPECT_EQ(DurationOf("7d", 1s), 168h);
  EXPECT_EQ(DurationOf("1h30m", 1s), 90min);
}

TEST(DurationOf, ANumberWithoutUnitCountsTheGivenOne) {
  EXPECT_EQ(DurationOf("3", 1s), 3s);
  EXPECT_EQ(DurationOf("0.5", 1ms), 500us);
  EXPECT_EQ(DurationOf("0", 1ms), 0ns);
  EXPECT_FALSE(DurationOf("3", 0ns));
}

TEST(DurationOf, ZeroNeedsNoUnit) {
  EXPECT_EQ(DurationOf("0", 0ns), 0ns);
  EXPECT_FALSE(DurationOf("1h0", 0ns));
}

TEST(DurationOf, AFractionOfANanosecondIsNotZero) {
  EXPECT_EQ(DurationOf("0.1ns", 1s), 1ns);
}

TEST(DurationOf, OtherTextsAreNone) {
  for (const char* text :
       {"", "s", "1x", "-1s", "inf", "nan", "1e3", "1h30", "1 s", "1.2.3s", "9999999d"}) {
    EXPECT_FALSE(DurationOf(text, 1s)) << text;
  }
}

TEST(SecondsText, HasNineDecimals) {
  EXPECT_EQ(SecondsText(12'000'000'345), "12.000000345");
  EXPECT_EQ(SecondsText(7), "0.000000007");
}

}  // namespace
}  // namespace perftape
