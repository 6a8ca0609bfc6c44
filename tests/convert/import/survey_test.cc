// SPDX-License-Identifier: Apache-2.0
#include "convert/import/survey.h"

#include <gtest/gtest.h>

namespace perftape {
namespace {

constexpr TimeSpan kAll{.first = 1000, .last = 3000};

TimePoint At(std::int64_t nanoseconds) {
  return {.nanoseconds = nanoseconds};
}
TimePoint Percent(double percent) {
  return {.percent = percent};
}

std::pair<std::uint64_t, std::uint64_t> Span(const TimeRange& range) {
  const TimeSpan span = SpanOf(range, kAll);
  return {span.first, span.last};
}

TEST(SpanOf, CountsFromTheFirstSample) {
  EXPECT_EQ(Span({At(10), At(500)}), std::pair(1010UL, 1500UL));
}

TEST(SpanOf, TakesWhatLiesBehindTheRecordingsLengthForTheClocksTime) {
  EXPECT_EQ(Span({At(2500), At(2800)}), std::pair(2500UL, 2800UL));
  EXPECT_EQ(Span({At(2000), {}}).first, 3000UL);  // as long as the recording
}

TEST(SpanOf, TakesSharesOfTheRecording) {
  EXPECT_EQ(Span({Percent(10), Percent(50)}), std::pair(1200UL, 2000UL));
  EXPECT_EQ(Span({Percent(0), Percent(100)}), std::pair(1000UL, 3000UL));
}

TEST(SpanOf, ReachesAsFarAsItMayWithoutAnEnd) {
  EXPECT_EQ(Span({{}, At(1)}), std::pair(0UL, 1001UL));
  EXPECT_EQ(Span({At(1), {}}), std::pair(1001UL, ~0UL));
}

TEST(SpanOf, IsAlwaysWhereNoSampleHasATime) {
  EXPECT_TRUE(SpanOf({At(10), At(20)}, {}).Contains(5));
}

}  // namespace
}  // namespace perftape
