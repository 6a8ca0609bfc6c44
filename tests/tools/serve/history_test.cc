// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/history.h"

#include <gmock/gmock.h>

#include "tests/tools/serve/profile_of_pods.h"
#include "tools/serve/profiles.h"

namespace perftape::serve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kSecond = 1'000'000'000;

std::int64_t Samples(const std::vector<SelectedWindow>& windows) {
  std::int64_t samples = 0;
  for (const SelectedWindow& one : windows) {
    const convert::Profile profile = ProfileOf(*one.window).value();
    for (const convert::Sample& sample : profile.samples()) samples += sample.count;
  }
  return samples;
}

void AddSeconds(History& history, std::uint64_t from, std::uint64_t count) {
  for (std::uint64_t i = from; i < from + count; ++i) {
    ASSERT_TRUE(history.Add(WindowOf(i, {{.function = "f", .count = 1}})));
  }
}

TEST(History, ReturnsTheWindowsOfATime) {
  History history({});
  AddSeconds(history, 10, 10);
  EXPECT_EQ(history.In({.from_ns = 12 * kSecond, .to_ns = 15 * kSecond}).size(), 3);
  EXPECT_EQ(history.In({}).size(), 10);
  EXPECT_THAT(history.In({.from_ns = 30 * kSecond}), IsEmpty());
}

TEST(History, AWindowBelongsToATimeIfHalfOfItDoes) {
  History history({});
  AddSeconds(history, 10, 2);
  EXPECT_EQ(history.In({.from_ns = 10 * kSecond + kSecond / 2}).size(), 2);
  EXPECT_EQ(history.In({.from_ns = 10 * kSecond + kSecond / 2 + 1}).size(), 1);
}

TEST(History, ALongWindowBelongsToAShortTimeInIt) {
  History history({});
  AddSeconds(history, 10, 2);
  const std::uint64_t tenth = kSecond / 10;
  EXPECT_EQ(history.In({.from_ns = 10 * kSecond + tenth, .to_ns = 10 * kSecond + 2 * tenth}).size(),
            1);
}

TEST(History, DropsWhatIsOlderThanItsSpanAndCountsIt) {
  History history({.span = std::chrono::seconds(5)});
  AddSeconds(history, 0, 20);
  const HistoryCounts counts = history.Counts();
  EXPECT_EQ(counts.windows, 5);
  EXPECT_EQ(counts.dropped, 15);
  EXPECT_EQ(counts.start_ns, 15 * kSecond);
  EXPECT_EQ(counts.end_ns, 20 * kSecond);
}

TEST(History, MergesOldWindowsWithoutLosingASample) {
  History history({.windows = 20});
  AddSeconds(history, 0, 100);
  const HistoryCounts counts = history.Counts();
  EXPECT_EQ(counts.windows, 20);
  EXPECT_GT(counts.merged, 80);
  EXPECT_EQ(counts.dropped, 0);
  EXPECT_EQ(Samples(history.In({})), 100);
  // The newest are as they came.
  EXPECT_EQ(history.In({.from_ns = 98 * kSecond}).size(), 2);
}

TEST(History, KeepsItsMemoryAndCountsEachSampleAsKeptOrDropped) {
  const std::uint64_t size = WindowOf(0, {{}}).profile.size();
  History history({.bytes = 10 * (size + 256), .span = std::chrono::seconds(60)});
  AddSeconds(history, 0, 100);
  const HistoryCounts counts = history.Counts();
  EXPECT_LE(counts.bytes, 10 * (size + 256));
  EXPECT_EQ(static_cast<std::uint64_t>(Samples(history.In({}))) + counts.dropped, 100);
}

TEST(History, EachReaderThatResetsGetsNewCountsOnly) {
  History history({});
  AddSeconds(history, 0, 3);
  EXPECT_EQ(Samples(history.SinceReset({}, Reset::kNo).value()), 3);
  EXPECT_EQ(Samples(history.SinceReset({}, Reset::kYes).value()), 3);
  EXPECT_THAT(history.SinceReset({}, Reset::kYes).value(), IsEmpty());
  AddSeconds(history, 3, 2);
  EXPECT_EQ(Samples(history.SinceReset({}, Reset::kNo).value()), 2);
  // Others are not affected.
  EXPECT_EQ(Samples(history.SinceReset({.scope = "shop/a"}, Reset::kNo).value()), 5);
  EXPECT_EQ(history.In({}).size(), 5);
}

TEST(History, AResetOfAnEventLeavesTheOthers) {
  History history({});
  AddSeconds(history, 0, 1);
  ASSERT_TRUE(history.SinceReset({.event = "tcpreset"}, Reset::kYes));
  AddSeconds(history, 1, 1);
  const auto all = history.SinceReset({}, Reset::kYes).value();
  ASSERT_EQ(all.size(), 2);
  EXPECT_THAT(all[0].reset_events, ElementsAre("tcpreset"));
  EXPECT_THAT(all[1].reset_events, IsEmpty());
  EXPECT_THAT(history.SinceReset({.event = "tcpreset"}, Reset::kNo).value(), IsEmpty());
}

TEST(History, WindowsBeforeAndAfterAResetAreNotMerged) {
  History history({.windows = 4});
  AddSeconds(history, 0, 4);
  ASSERT_TRUE(history.SinceReset({}, Reset::kYes));
  AddSeconds(history, 4, 30);
  EXPECT_EQ(Samples(history.SinceReset({}, Reset::kNo).value()), 30);
  EXPECT_EQ(Samples(history.In({})), 34);
}

TEST(History, RefusesTooManyDifferentResets) {
  History history({});
  for (std::size_t i = 0; i < History::kMostResets; ++i) {
    ASSERT_TRUE(history.SinceReset({.scope = std::to_string(i)}, Reset::kYes));
  }
  EXPECT_FALSE(history.SinceReset({.scope = "one more"}, Reset::kYes));
  EXPECT_TRUE(history.SinceReset({.scope = "1"}, Reset::kYes));
  EXPECT_TRUE(history.SinceReset({.scope = "one more"}, Reset::kNo));
}

}  // namespace
}  // namespace perftape::serve
