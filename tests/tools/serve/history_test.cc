// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/history.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tools/serve/profile_of_pods.h"
#include "tools/serve/profiles.h"

namespace perftape::serve {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kSecond = 1'000'000'000;

HistoryFile NewFile() {
  return HistoryFile::Open(HistoryFile::Make().value()).value();
}

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
  History history({}, NewFile());
  AddSeconds(history, 10, 10);
  EXPECT_EQ(history.In({.from_ns = 12 * kSecond, .to_ns = 15 * kSecond}).size(), 3);
  EXPECT_EQ(history.In({}).size(), 10);
  EXPECT_THAT(history.In({.from_ns = 30 * kSecond}), IsEmpty());
}

TEST(History, AWindowBelongsToATimeIfHalfOfItDoes) {
  History history({}, NewFile());
  AddSeconds(history, 10, 2);
  EXPECT_EQ(history.In({.from_ns = 10 * kSecond + kSecond / 2}).size(), 2);
  EXPECT_EQ(history.In({.from_ns = 10 * kSecond + kSecond / 2 + 1}).size(), 1);
}

TEST(History, ALongWindowBelongsToAShortTimeInIt) {
  History history({}, NewFile());
  AddSeconds(history, 10, 2);
  const std::uint64_t tenth = kSecond / 10;
  EXPECT_EQ(history.In({.from_ns = 10 * kSecond + tenth, .to_ns = 10 * kSecond + 2 * tenth}).size(),
            1);
}

TEST(History, DropsWhatIsOlderThanItsSpanAndCountsIt) {
  History history({.span = std::chrono::seconds(5)}, NewFile());
  AddSeconds(history, 0, 20);
  const HistoryCounts counts = history.Counts();
  EXPECT_EQ(counts.windows, 5);
  EXPECT_EQ(counts.dropped, 15);
  EXPECT_EQ(counts.start_ns, 15 * kSecond);
  EXPECT_EQ(counts.end_ns, 20 * kSecond);
}

TEST(History, MergesOldWindowsWithoutLosingASample) {
  History history({.windows = 20}, NewFile());
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
  const std::uint64_t size = HistoryFile::SizeOf(WindowOf(0, {{}}).profile.size());
  History history({.bytes = 10 * size, .span = std::chrono::seconds(60)}, NewFile());
  AddSeconds(history, 0, 100);
  const HistoryCounts counts = history.Counts();
  EXPECT_LE(counts.bytes, 10 * size);
  EXPECT_EQ(static_cast<std::uint64_t>(Samples(history.In({}))) + counts.dropped, 100);
}

TEST(History, EachReaderThatResetsGetsNewCountsOnly) {
  History history({}, NewFile());
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
  History history({}, NewFile());
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
  History history({.windows = 4}, NewFile());
  AddSeconds(history, 0, 4);
  ASSERT_TRUE(history.SinceReset({}, Reset::kYes));
  AddSeconds(history, 4, 30);
  EXPECT_EQ(Samples(history.SinceReset({}, Reset::kNo).value()), 30);
  EXPECT_EQ(Samples(history.In({})), 34);
}

// As when a server is killed, and the next one opens the same file.
class SeveralServers : public testing::Test {
 protected:
  History NextServer(const HistoryLimits& limits = {}) {
    return History(limits, HistoryFile::Open(Duplicate(file_.get())).value());
  }
  std::uint64_t MemoryBytes() const {
    constexpr std::uint64_t kBlock = 512;  // of stat(2)
    struct stat status = {};
    EXPECT_EQ(fstat(file_.get(), &status), 0);
    return static_cast<std::uint64_t>(status.st_blocks) * kBlock;
  }

  const UniqueFd file_ = HistoryFile::Make().value();
};

TEST_F(SeveralServers, TheNextOneHasTheWindowsAndTheResets) {
  {
    History history = NextServer({.windows = 8});
    AddSeconds(history, 0, 20);
    ASSERT_TRUE(history.SinceReset({.scope = "a\nb", .event = "e"}, Reset::kYes));
    AddSeconds(history, 20, 3);
    ASSERT_TRUE(history.SinceReset({.event = "other"}, Reset::kYes));
  }
  History history = NextServer({.windows = 8});
  EXPECT_EQ(Samples(history.In({})), 23);
  EXPECT_EQ(history.Counts().windows, 8);
  EXPECT_EQ(Samples(history.SinceReset({.scope = "a\nb", .event = "e"}, Reset::kNo).value()), 3);
  AddSeconds(history, 23, 30);
  EXPECT_EQ(Samples(history.SinceReset({.event = "other"}, Reset::kNo).value()), 30);
  EXPECT_EQ(Samples(history.SinceReset({}, Reset::kNo).value()), 53);
}

TEST_F(SeveralServers, ResetsOutliveTheWindowsBeforeThem) {
  {
    History history = NextServer({.span = std::chrono::seconds(2)});
    AddSeconds(history, 0, 5);
    ASSERT_TRUE(history.SinceReset({}, Reset::kYes));
  }
  History history = NextServer();
  AddSeconds(history, 5, 1);
  EXPECT_EQ(Samples(history.SinceReset({}, Reset::kYes).value()), 1);
}

TEST_F(SeveralServers, AMergeThatWasInterruptedCountsNothingTwice) {
  {
    History history = NextServer();
    AddSeconds(history, 0, 4);
    const Window joined = Join(WindowOf(1, {{.count = 1}}), WindowOf(2, {{.count = 1}})).value();
    HistoryFile file = HistoryFile::Open(Duplicate(file_.get())).value();
    ASSERT_TRUE(file.Add({.kind = HistoryFile::Row::Kind::kWindow,
                          .first = 2,
                          .last = 3,
                          .start_ns = joined.start_ns,
                          .end_ns = joined.end_ns},
                         joined.profile));
  }
  EXPECT_EQ(Samples(NextServer().In({})), 4);
  EXPECT_EQ(NextServer().Counts().windows, 3);
}

TEST_F(SeveralServers, MemoryOfDroppedWindowsGoesBackWhenNobodyReadsThem) {
  History history = NextServer({.span = std::chrono::seconds(3)});
  AddSeconds(history, 0, 3);
  const std::uint64_t before = MemoryBytes();
  {
    const std::vector<SelectedWindow> reader = history.In({});
    AddSeconds(history, 3, 100);
    EXPECT_EQ(Samples(reader), 3);
    EXPECT_GT(MemoryBytes(), before);
  }
  EXPECT_EQ(MemoryBytes(), before);
}

TEST_F(SeveralServers, RowsThatPointOutsideTheFileAreLeftOut) {
  {
    History history = NextServer();
    AddSeconds(history, 0, 3);
  }
  HistoryFile::Row row;
  ASSERT_EQ(pread(file_.get(), &row, sizeof row, 0), ssize_t{sizeof row});
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    row.offset = offset;
    ASSERT_EQ(pwrite(file_.get(), &row, sizeof row, 0), ssize_t{sizeof row});
    EXPECT_EQ(Samples(NextServer().In({})), 2) << offset;
  }
}

TEST(History, RefusesTooManyDifferentResets) {
  History history({}, NewFile());
  for (std::size_t i = 0; i < History::kMostResets; ++i) {
    ASSERT_TRUE(history.SinceReset({.scope = std::to_string(i)}, Reset::kYes));
  }
  EXPECT_FALSE(history.SinceReset({.scope = "one more"}, Reset::kYes));
  EXPECT_TRUE(history.SinceReset({.scope = "1"}, Reset::kYes));
  EXPECT_TRUE(history.SinceReset({.scope = "one more"}, Reset::kNo));
}

}  // namespace
}  // namespace perftape::serve
