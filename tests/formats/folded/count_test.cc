// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

#include "tests/support/matchers.h"

namespace perftape::folded {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

std::int64_t Fixed(std::string_view text, unsigned decimals) {
  return ToFixed(ParseCount(text).value(), decimals);
}

std::string Written(std::int64_t value, unsigned decimals) {
  std::string out;
  AppendFixed(out, value, decimals);
  return out;
}

TEST(ParseCount, ParsesIntegers) {
  EXPECT_EQ(Fixed("42", 0), 42);
  EXPECT_EQ(Fixed("007", 0), 7);
  EXPECT_EQ(Fixed("-42", 0), -42);
  EXPECT_EQ(Fixed("42.", 0), 42);
}

TEST(ParseCount, CountsDecimals) {
  EXPECT_EQ(ParseCount("12.50")->fraction, "5");
  EXPECT_EQ(ParseCount("12.05")->fraction, "05");
  EXPECT_EQ(ParseCount("12.00")->fraction, "0");
  EXPECT_EQ(ParseCount("12.")->fraction, "");
}

// As awk, Go, Java and Python print large numbers.
TEST(ParseCount, ReadsExponents) {
  EXPECT_EQ(Fixed("4.09e+09", 0), 4'090'000'000);
  EXPECT_EQ(Fixed("-1E+06", 0), -1'000'000);
  EXPECT_EQ(Fixed("4.09E9", 0), 4'090'000'000);
  EXPECT_EQ(Fixed("1.23456e+02", 3), 123'456);
  EXPECT_EQ(ParseCount("1.23450e+02")->fraction, "45");
  EXPECT_EQ(Fixed("0.5e+00", 1), 5);
  EXPECT_THAT(ParseCount("1e+19"), FailsWith(ErrorCode::kCorrupt, HasSubstr("too large")));
  EXPECT_THAT(ParseCount("1e+9999"), FailsWith(ErrorCode::kCorrupt, HasSubstr("too large")));
  EXPECT_THAT(ParseCount("4.2e-05"), FailsWith(ErrorCode::kCorrupt, HasSubstr("exponent")));
  for (const char* text : {"e+09", "1e+", "1e+x", "1e+00009", "1e+1e+1", "x.e+1"}) {
    EXPECT_THAT(ParseCount(text), FailsWith(ErrorCode::kCorrupt, HasSubstr("no count"))) << text;
  }
}

TEST(ParseCount, RefusesWhatIsNoNumber) {
  for (const char* text : {"", "-", "x", "1x", "1.x", ".5", "+1", "1.2.3", "0x10", "1e3", "--1"}) {
    EXPECT_THAT(ParseCount(text), FailsWith(ErrorCode::kCorrupt, HasSubstr("no count"))) << text;
  }
}

TEST(ParseCount, RefusesWhatIsTooLarge) {
  EXPECT_EQ(Fixed("9223372036854775807", 0), kMax);
  EXPECT_EQ(Fixed("-9223372036854775808", 0), kMin);
  for (const char* text : {"9223372036854775808", "-9223372036854775809", "99999999999999999999"}) {
    EXPECT_THAT(ParseCount(text), FailsWith(ErrorCode::kCorrupt, HasSubstr("too large"))) << text;
  }
}

TEST(ToFixed, FillsUpDecimals) {
  EXPECT_EQ(Fixed("12.5", 3), 12'500);
  EXPECT_EQ(Fixed("-0.05", 2), -5);
}

TEST(ToFixed, RoundsToTheNearest) {
  EXPECT_EQ(Fixed("1.24", 1), 12);
  EXPECT_EQ(Fixed("1.25", 1), 13);
  EXPECT_EQ(Fixed("-1.96", 1), -20);
}

TEST(ToFixed, StopsAtTheLargestNumber) {
  EXPECT_EQ(Fixed("9223372036854775807", 1), kMax);
  EXPECT_EQ(Fixed("9223372036854775807.9", 0), kMax);
  EXPECT_EQ(Fixed("-9223372036854775808", 18), kMin);
}

TEST(RoundFixed, RoundsHalvesAwayFromZero) {
  EXPECT_EQ(RoundFixed(kMax, 0), kMax);
  EXPECT_EQ(RoundFixed(1'250, 3), 1);
  EXPECT_EQ(RoundFixed(1'500, 3), 2);
  EXPECT_EQ(RoundFixed(-1'500, 3), -2);
  EXPECT_EQ(RoundFixed(-1'499, 3), -1);
}

TEST(AppendFixed, WritesAsManyDecimalsAsNeeded) {
  EXPECT_EQ(Written(42, 0), "42");
  EXPECT_EQ(Written(12'500, 3), "12.5");
  EXPECT_EQ(Written(19'000, 3), "19.0");
  EXPECT_EQ(Written(-5, 2), "-0.05");
  EXPECT_EQ(Written(0, 2), "0.0");
  EXPECT_EQ(Written(kMin, 18), "-9.223372036854775808");
}

RC_GTEST_PROP(AppendFixed, WritesWhatIsReadAsTheSame, (std::int64_t value)) {
  const auto decimals = *rc::gen::inRange(0U, kMostDecimals + 1);
  const std::string text = Written(value, decimals);
  RC_ASSERT(Fixed(text, decimals) == value);
}

}  // namespace
}  // namespace perftape::folded
