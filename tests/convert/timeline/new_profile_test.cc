// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/new_profile.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convert/timeline/wall_clock.h"
#include "tests/convert/timeline/recorded_threads.h"
#include "tests/convert/timeline/stack_sums.h"

namespace perftape::timeline {
namespace {

using convert::Profile;
using convert::ThreadId;
using testing::ElementsAre;
using testing::IsEmpty;

// Returns "share start-end" of each part.
std::vector<std::string> Split(const std::vector<Span>& ranges,
                               const std::vector<std::int64_t>& shares) {
  std::vector<std::string> texts;
  for (const auto& [share, time] : SplitByShares(ranges, shares)) {
    texts.push_back(fmt::format("{} {}-{}", share, time.start, time.end));
  }
  return texts;
}

TEST(SplitByShares, FillsRangesOneAfterTheOther) {
  EXPECT_THAT(Split({{10, 20}, {50, 60}}, {4, 12, 4}),
              ElementsAre("0 10-14", "1 14-20", "1 50-56", "2 56-60"));
  EXPECT_THAT(Split({{10, 20}, {30, 30}, {50, 60}}, {0, 10, 0, 10, 0}),
              ElementsAre("1 10-20", "3 50-60"));
  EXPECT_THAT(Split({}, {}), IsEmpty());
  EXPECT_THAT(Split({{10, 20}}, {}), IsEmpty());
}

TEST(WithRecording, HasTheSamplesOfBothAndShowsTheMadeEventFirst) {
  RecordedThreads recorded;
  const ThreadId main = recorded.Thread("main", 10, 10);
  recorded.Ran(main, 30, recorded.Calls({"main", "work"}));
  recorded.Slept(main, 30, 100, recorded.Calls({"main", "wait"}));
  recorded.WaitedForCpu(main, 100, 120);
  const Profile profile = recorded.Make();
  const Timeline timeline = Timeline::Build(profile, {});
  const Profile made = MakeWallClock(timeline, {.with_times = true}).profile;
  const Profile both = WithRecording(made, profile);
  EXPECT_EQ(both.samples().size(), made.samples().size() + profile.samples().size());
  EXPECT_EQ(TotalOf(both), TotalOf(made) + TotalOf(profile));
  EXPECT_EQ(both.metadata().default_value, kWallClockEvent);
  ASSERT_EQ(both.events().size(), 1 + profile.events().size());
  for (std::size_t i = 0; i < profile.events().size(); ++i) {
    EXPECT_EQ(both.text(both.events()[i + 1].name), profile.text(profile.events()[i].name));
  }
  const Timeline again = Timeline::Build(both, {});
  ASSERT_EQ(again.threads().size(), 1U);
  EXPECT_EQ(again.threads()[0].intervals.size(), timeline.threads()[0].intervals.size());
  EXPECT_EQ(again.time().start, timeline.time().start);
  EXPECT_EQ(again.time().end, timeline.time().end);
}

}  // namespace
}  // namespace perftape::timeline
