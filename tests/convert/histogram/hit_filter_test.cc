// SPDX-License-Identifier: Apache-2.0
#include "convert/histogram/hit_filter.h"

#include <gmock/gmock.h>

#include "tests/support/matchers.h"

namespace perftape::histogram {
namespace {

constexpr TimeSlice kRecording{.first = 1'000'000'000, .last = 2'000'000'000};

TEST(ParseTimes, ReadsSeconds) {
  const auto slices = ParseTimes("1.5,1.75", kRecording);
  ASSERT_TRUE(slices);
  ASSERT_EQ(slices->size(), 1U);
  EXPECT_EQ(slices->front().first, 1'500'000'000U);
  EXPECT_EQ(slices->front().last, 1'750'000'000U);
  EXPECT_EQ(ParseTimes(",1.75", kRecording)->front().first, 0U);
  EXPECT_EQ(ParseTimes("1.5,", kRecording)->front().last, UINT64_MAX);
}

TEST(ParseTimes, ReadsSharesOfTheRecording) {
  const auto slices = ParseTimes("10%-20%,10%/3", kRecording);
  ASSERT_TRUE(slices);
  ASSERT_EQ(slices->size(), 2U);
  EXPECT_EQ(slices->at(0).first, 1'100'000'000U);
  EXPECT_EQ(slices->at(0).last, 1'199'999'999U);
  EXPECT_EQ(slices->at(1).first, 1'200'000'000U);
  EXPECT_EQ(ParseTimes("90%-100%", kRecording)->front().last, kRecording.last);
}

TEST(ParseTimes, RefusesOtherTexts) {
  for (const char* text : {"", "x", "1.x,", "10%", "10%-", "20%-10%", "10%/0", "10%/11", "-1,2",
                           "1.0000000001,", "99999999999999999999,", "%-%", "10%-200%"}) {
    EXPECT_THAT(ParseTimes(text, kRecording), FailsWith(ErrorCode::kInvalidArgument, testing::_))
        << text;
  }
}

TEST(HitFilter, ComparesWholeNames) {
  NameTable names;
  HitFilter filter;
  filter.comms = {"sh"};
  EXPECT_TRUE(filter.Hides({.comm = names.texts.Add("bash")}, names));
  EXPECT_FALSE(filter.Hides({.comm = names.texts.Add("sh")}, names));
}

TEST(HitFilter, DropsOtherCpusAndTimes) {
  HitFilter filter;
  filter.cpus = {1};
  filter.times = {{.first = 5, .last = 9}};
  EXPECT_FALSE(filter.Drops({.cpu = 1, .time_ns = 9}));
  EXPECT_TRUE(filter.Drops({.cpu = 1, .time_ns = 10}));
  EXPECT_TRUE(filter.Drops({.cpu = 0, .time_ns = 6}));
}

}  // namespace
}  // namespace perftape::histogram
