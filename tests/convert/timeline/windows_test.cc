// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/windows.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/convert/timeline/recorded_threads.h"

namespace perftape::timeline {
namespace {

using convert::Globs;
using convert::Profile;
using convert::ThreadId;
using testing::ElementsAre;
using testing::HasSubstr;

class WindowsTest : public testing::Test {
 protected:
  WindowsTest() {
    for (const ThreadId thread : {main_, worker_}) recorded_.WaitedForCpu(thread, 0, 1000);
  }

  void Build() {
    profile_ = recorded_.Make();
    timeline_ = Timeline::Build(profile_, {});
  }
  // "11: 100-200"
  std::vector<std::string> TextsOf(const std::vector<Window>& windows) const {
    std::vector<std::string> texts;
    for (const Window& window : windows) {
      texts.push_back(fmt::format("{}: {}-{}", timeline_.threads()[window.thread].tid,
                                  window.time.start, window.time.end));
    }
    return texts;
  }

  RecordedThreads recorded_;
  ThreadId main_ = recorded_.Thread("main", 10, 10);
  ThreadId worker_ = recorded_.Thread("worker", 10, 11);
  Profile profile_;
  Timeline timeline_;
};

TEST_F(WindowsTest, AreTheLivesOfTheChosenThreads) {
  recorded_.WaitedForCpu(recorded_.Thread("other", 20, 20), 500, 700);
  Build();
  EXPECT_THAT(TextsOf(LivesOf(timeline_, {.pids = {10}}).value()), ElementsAre("10: 0-1000"));
  EXPECT_THAT(TextsOf(LivesOf(timeline_, {.tids = {11}}).value()), ElementsAre("11: 0-1000"));
  EXPECT_THAT(TextsOf(LivesOf(timeline_, {.comms = Globs("work*")}).value()),
              ElementsAre("11: 0-1000"));
  EXPECT_EQ(LivesOf(timeline_, {.tids = {99}}).error().code, ErrorCode::kNotFound);
}

TEST_F(WindowsTest, AreTheLivesOfTheMainThreadsOfACgroup) {
  recorded_.EnterCgroup("/service");
  recorded_.WaitedForCpu(recorded_.Thread("server", 20, 20), 500, 700);
  recorded_.WaitedForCpu(recorded_.Thread("server", 20, 21), 500, 700);
  Build();
  EXPECT_THAT(TextsOf(LivesOf(timeline_, {.cgroups = Globs("/serv*")}).value()),
              ElementsAre("20: 0-1000"));
}

TEST_F(WindowsTest, AreOfTheCommandWithoutAChoice) {
  Build();
  EXPECT_THAT(TextsOf(LivesOf(timeline_, {}).value()), ElementsAre("10: 0-1000"));
}

// A shell can start a program before it is sampled.
TEST_F(WindowsTest, AreOfTheCommandThatStartedTheOthers) {
  recorded_.WaitedForCpu(recorded_.Thread("child", 20, 20), 0, 700);
  profile_ = recorded_.Make();
  timeline_ = Timeline::Build(
      profile_,
      {.events = {{.type = convert::TaskEvent::Type::kFork, .time_ns = 1, .pid = 20, .tid = 20}}});
  EXPECT_THAT(TextsOf(LivesOf(timeline_, {}).value()), ElementsAre("10: 0-1000"));
}

TEST_F(WindowsTest, NeedAChoiceAmongSeveralProcesses) {
  recorded_.WaitedForCpu(recorded_.Thread("other", 20, 20), 0, 700);
  Build();
  const auto windows = LivesOf(timeline_, {});
  ASSERT_FALSE(windows.has_value());
  EXPECT_THAT(windows.error().message, HasSubstr("main 10, other 20"));
}

TEST_F(WindowsTest, LastFromAnEventToTheNextOneOfTheThread) {
  recorded_.Hit(main_, "begin", 100);
  recorded_.Hit(worker_, "begin", 110);
  recorded_.Hit(main_, "end", 200);
  recorded_.Hit(main_, "end", 210);      // without a begin
  recorded_.Hit(worker_, "begin", 150);  // anew
  recorded_.Hit(worker_, "end", 250);
  Build();
  const EventPairs events = {.from = Globs("begin"), .to = Globs("end")};
  EXPECT_THAT(TextsOf(WindowsBetween(timeline_, events).value()),
              ElementsAre("10: 100-200", "11: 150-250"));
}

TEST_F(WindowsTest, LastBetweenEventsOfTheChosenThreads) {
  for (const ThreadId thread : {main_, worker_}) {
    recorded_.Hit(thread, "begin", 100);
    recorded_.Hit(thread, "end", 200);
  }
  Build();
  const EventPairs events = {.from = Globs("begin"), .to = Globs("end")};
  const std::vector<Window> windows = WindowsBetween(timeline_, events, {.tids = {11}}).value();
  EXPECT_THAT(TextsOf(windows), ElementsAre("11: 100-200"));
  const std::vector<ThreadWindow> with_ids = WithIds(timeline_, windows);
  ASSERT_EQ(with_ids.size(), 1U);
  EXPECT_EQ(with_ids[0].pid, 10U);
  EXPECT_EQ(with_ids[0].tid, 11U);
  EXPECT_EQ(with_ids[0].time.start, 100);
  EXPECT_EQ(WindowsBetween(timeline_, events, {.pids = {99}}).error().code, ErrorCode::kNotFound);
}

TEST_F(WindowsTest, PairEventsByTheValueOfAField) {
  recorded_.Hit(main_, "begin", 100, {recorded_.Number("request", 7)});
  recorded_.Hit(main_, "begin", 110, {recorded_.Number("request", 8)});
  recorded_.Hit(worker_, "end", 200, {recorded_.Number("request", 8)});
  recorded_.Hit(worker_, "end", 300, {recorded_.Number("request", 7)});
  recorded_.Hit(worker_, "end", 400);  // without the field
  Build();
  const EventPairs events = {.from = Globs("begin"), .to = Globs("end"), .key = "request"};
  EXPECT_THAT(TextsOf(WindowsBetween(timeline_, events).value()),
              ElementsAre("11: 110-200", "11: 100-300"));
}

TEST_F(WindowsTest, CanEndAndBeginWithOneEvent) {
  for (const std::int64_t at : {100, 150, 300}) recorded_.Hit(main_, "tick", at);
  Build();
  const EventPairs events = {.from = Globs("tick"), .to = Globs("tick")};
  EXPECT_THAT(TextsOf(WindowsBetween(timeline_, events).value()),
              ElementsAre("10: 100-150", "10: 150-300"));
}

TEST_F(WindowsTest, NameTheEventsOfTheRecordingIfThereIsNoPair) {
  recorded_.Hit(main_, "begin", 100);
  Build();
  const auto windows = WindowsBetween(timeline_, {.from = Globs("begin"), .to = Globs("end")});
  ASSERT_FALSE(windows.has_value());
  EXPECT_EQ(windows.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(windows.error().message, HasSubstr("begin"));
}

std::vector<Window> OfLengths(const std::vector<std::int64_t>& lengths) {
  std::vector<Window> windows;
  for (const std::int64_t length : lengths) {
    windows.push_back({.thread = 0, .time = {.start = 0, .end = length}});
  }
  return windows;
}

std::vector<std::int64_t> Chosen(const std::vector<std::int64_t>& lengths,
                                 const WindowChoice& choice) {
  std::vector<std::int64_t> chosen;
  for (const Window& window : Choose(OfLengths(lengths), choice)) {
    chosen.push_back(window.time.length());
  }
  return chosen;
}

TEST(ChooseWindows, TakesTheSlowest) {
  EXPECT_THAT(Chosen({5, 9, 7}, {}), ElementsAre(9, 7, 5));
  EXPECT_THAT(Chosen({5, 9, 7}, {.slowest = 2}), ElementsAre(9, 7));
  EXPECT_THAT(Chosen({5, 9, 7}, {.slowest = 10}), ElementsAre(9, 7, 5));
}

TEST(ChooseWindows, TakesARangeOfPercentiles) {
  const std::vector<std::int64_t> ten = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  EXPECT_THAT(Chosen(ten, {.percentiles = Percentiles{.from = 80}}), ElementsAre(10, 9));
  EXPECT_THAT(Chosen(ten, {.percentiles = Percentiles{.to = 20}}), ElementsAre(2, 1));
  EXPECT_THAT(Chosen(ten, {.percentiles = Percentiles{.from = 40, .to = 60}}), ElementsAre(6, 5));
  EXPECT_THAT(Chosen({3}, {.percentiles = Percentiles{.from = 99}}), ElementsAre(3));
  EXPECT_THAT(Chosen(ten, {.percentiles = Percentiles{.from = 100}}), ElementsAre(10));
}

TEST(ParsePercentiles, ReadsRanges) {
  EXPECT_EQ(ParsePercentiles("p95..")->from, 95);
  EXPECT_EQ(ParsePercentiles("p95..")->to, 100);
  EXPECT_EQ(ParsePercentiles("..p50")->to, 50);
  EXPECT_EQ(ParsePercentiles("p99.9..")->from, 99.9);
  for (const std::string_view text : {"", "p95", "95..", "p60..p40", "p101..", "..px"}) {
    EXPECT_FALSE(ParsePercentiles(text).has_value()) << text;
  }
}

TEST(WindowLengths, AreTheNearestRanks) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 1; i <= 100; ++i) lengths.push_back(i);
  const WindowLengths of_all = LengthsOf(OfLengths(lengths));
  EXPECT_EQ(of_all.count, 100U);
  EXPECT_EQ(of_all.median, 50);
  EXPECT_EQ(of_all.p90, 90);
  EXPECT_EQ(of_all.p99, 99);
  EXPECT_EQ(of_all.max, 100);
  EXPECT_EQ(of_all.sum, 5050);
  EXPECT_EQ(of_all.by_power[6], 37U) << "64 to 100";
}

}  // namespace
}  // namespace perftape::timeline
