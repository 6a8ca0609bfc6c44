// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/timeline.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "tests/convert/timeline/recorded_threads.h"

namespace perftape::timeline {
namespace {

using convert::Profile;
using convert::TaskEvent;
using convert::ThreadId;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsNull;
using testing::SizeIs;

// "100-200 running", with short waits "100-200 running 5".
std::vector<std::string> TextsOf(const ThreadLine& line) {
  std::vector<std::string> texts;
  for (const Interval& one : line.intervals) {
    texts.push_back(fmt::format("{}-{} {}", one.time.start, one.time.end, NameOf(one.state)));
    if (one.short_waits != 0) texts.back() += fmt::format(" {}", one.short_waits);
  }
  return texts;
}

class TimelineTest : public testing::Test {
 protected:
  // The texts of the only thread.
  std::vector<std::string> Texts(const TimelineOptions& options = {}) {
    profile_ = recorded_.Make();
    const Timeline timeline = Timeline::Build(profile_, options);
    EXPECT_THAT(timeline.threads(), SizeIs(1));
    return timeline.threads().empty() ? std::vector<std::string>()
                                      : TextsOf(timeline.threads().front());
  }

  RecordedThreads recorded_;
  ThreadId thread_ = recorded_.Thread("main", 10, 10);
  Profile profile_;
};

TEST_F(TimelineTest, IsOnACpuBetweenItsWaits) {
  recorded_.Slept(thread_, 100, 200, recorded_.Calls({"main", "k:futex_wait"}));
  recorded_.WaitedForCpu(thread_, 200, 210);
  recorded_.Ran(thread_, 220, recorded_.Calls({"main"}));
  recorded_.WaitedForDisk(thread_, 230, 300, recorded_.Calls({"main", "k:io_schedule"}));
  EXPECT_THAT(Texts(),
              ElementsAre("100-200 sleep", "200-210 runnable", "210-230 running", "230-300 disk"));
}

TEST_F(TimelineTest, TellsLocksFromOtherWaits) {
  recorded_.Slept(thread_, 100, 200,
                  recorded_.Calls({"main", "pthread_mutex_lock", "k:futex_wait"}));
  recorded_.WaitedForCpu(thread_, 200, 210);
  recorded_.WaitedForDisk(thread_, 210, 300,
                          recorded_.Calls({"main", "k:rwsem_down_write_slowpath"}));
  EXPECT_THAT(Texts(), ElementsAre("100-200 lock", "200-210 runnable", "210-300 lock"));
}

TEST_F(TimelineTest, DividesASumOfShortWaitsAmongWhatItCovers) {
  recorded_.WaitedForCpu(thread_, 0, 100);
  recorded_.SleptShortly(thread_, 200, 10);  // 100 to 200
  recorded_.Slept(thread_, 250, 300, recorded_.Calls({"main"}));
  recorded_.SleptShortly(thread_, 350, 20);  // 200 to 250, 300 to 350
  recorded_.WaitedForCpu(thread_, 400, 410);
  EXPECT_THAT(Texts(), ElementsAre("0-100 runnable", "100-200 running 10", "200-250 running 10",
                                   "250-300 sleep", "300-350 running 10", "350-400 running",
                                   "400-410 runnable"));
}

// A sum cannot be longer than the time that it covers.
TEST_F(TimelineTest, HasNoMoreShortWaitsThanTime) {
  recorded_.WaitedForCpu(thread_, 0, 100);
  recorded_.SleptShortly(thread_, 200, 500);
  EXPECT_THAT(Texts(), ElementsAre("0-100 runnable", "100-200 running 100"));
}

TEST_F(TimelineTest, KnowsNothingOfThePausesOfTheRecording) {
  recorded_.WaitedForCpu(thread_, 0, 100);
  recorded_.Slept(thread_, 200, 300, recorded_.Calls({"main"}));
  recorded_.WaitedForCpu(thread_, 600, 700);
  EXPECT_THAT(
      Texts({.pauses = {{120, 130}, {250, 400}, {690, 900}}}),
      ElementsAre("0-100 runnable", "100-120 running", "120-130 not recorded", "130-200 running",
                  "200-250 sleep", "250-300 not recorded", "300-400 not recorded",
                  "400-600 running", "600-690 runnable", "690-700 not recorded"));
}

TEST_F(TimelineTest, KnowsNothingOfALongTimeWithoutSamples) {
  recorded_.WaitedForCpu(thread_, 0, 100);
  recorded_.Ran(thread_, 105, recorded_.Calls({"main"}));
  recorded_.WaitedForCpu(thread_, 110, 120);
  recorded_.WaitedForCpu(thread_, 320, 400);
  EXPECT_THAT(Texts({.least_silence_ns = 0}),
              ElementsAre("0-100 runnable", "100-110 running", "110-120 runnable",
                          "120-320 not recorded", "320-400 runnable"));
}

TEST_F(TimelineTest, KnowsNothingOfALongTimeBetweenTwoSamples) {
  recorded_.WaitedForCpu(thread_, 0, 100);
  for (const std::int64_t at : {105, 135, 165, 300}) {
    recorded_.Ran(thread_, at, recorded_.Calls({"main"}));
  }
  recorded_.WaitedForCpu(thread_, 310, 320);
  EXPECT_THAT(Texts({.least_silence_ns = 0}),
              ElementsAre("0-100 runnable", "100-165 running", "165-270 not recorded",
                          "270-310 running", "310-320 runnable"));
}

TEST_F(TimelineTest, RunsInAShortTimeWithoutSamples) {
  recorded_.WaitedForCpu(thread_, 0, 100);
  recorded_.WaitedForCpu(thread_, 500, 600);
  EXPECT_THAT(Texts({.least_silence_ns = 401}),
              ElementsAre("0-100 runnable", "100-500 running", "500-600 runnable"));
}

// perf record --off-cpu has no waits for a CPU.
TEST_F(TimelineTest, RunsOnlyAroundSamplesIfNotAllWaitsAreRecorded) {
  recorded_.Slept(thread_, 0, 100, recorded_.Calls({"main"}));
  recorded_.Ran(thread_, 150, recorded_.Calls({"main"}));
  recorded_.Slept(thread_, 200, 300, recorded_.Calls({"main"}));
  EXPECT_THAT(Texts(), ElementsAre("0-100 sleep", "100-120 not recorded", "120-150 running",
                                   "150-200 not recorded", "200-300 sleep"));
}

TEST_F(TimelineTest, LivesFromItsForkToItsExit) {
  recorded_.WaitedForCpu(recorded_.Thread("other", 20, 20), 0, 1000);
  recorded_.WaitedForCpu(thread_, 110, 150);
  recorded_.Slept(thread_, 200, 300, recorded_.Calls({"main"}));
  profile_ = recorded_.Make();
  const Timeline timeline = Timeline::Build(
      profile_,
      {.events = {{.type = TaskEvent::Type::kFork, .time_ns = 100, .pid = 10, .tid = 10},
                  {.type = TaskEvent::Type::kExit, .time_ns = 320, .pid = 10, .tid = 10}}});
  ASSERT_THAT(timeline.threads(), SizeIs(2));
  EXPECT_THAT(TextsOf(timeline.threads()[0]), ElementsAre("110-150 runnable", "150-200 running",
                                                          "200-300 sleep", "300-320 running"));
  EXPECT_EQ(timeline.Find(10, 10), 0U);
  EXPECT_EQ(timeline.Find(20, 20), 1U);
  EXPECT_EQ(timeline.Find(20, 21), kNone);
}

// Its wait for its first CPU was short.
TEST_F(TimelineTest, AThreadThatRanBeforeItsFirstLongWaitBeginsWithItsFork) {
  constexpr std::int64_t kMs = 1'000'000;
  recorded_.WaitedForCpu(recorded_.Thread("parent", 20, 20), 0, kMs);
  recorded_.Slept(thread_, 3 * kMs, 4 * kMs, recorded_.Calls({"main", "wait"}));
  profile_ = recorded_.Make();
  const convert::TaskEvent fork = {
      .type = TaskEvent::Type::kFork, .time_ns = 2 * kMs, .pid = 10, .tid = 10};
  const Timeline timeline = Timeline::Build(profile_, {.events = {fork}});
  EXPECT_THAT(TextsOf(timeline.threads()[0]),
              ElementsAre("2000000-3000000 running", "3000000-4000000 sleep"));
}

// A recorder notes threads while it prepares what samples them.
TEST_F(TimelineTest, DoesNotBeginLongBeforeTheFirstSample) {
  constexpr std::int64_t kMs = 1'000'000;
  recorded_.Slept(thread_, 500 * kMs, 510 * kMs, recorded_.Calls({"main", "wait"}));
  recorded_.Slept(recorded_.Thread("other", 20, 20), 501 * kMs, 510 * kMs,
                  recorded_.Calls({"main", "wait"}));
  profile_ = recorded_.Make();
  const Timeline timeline = Timeline::Build(
      profile_,
      {.events = {{.type = TaskEvent::Type::kFork, .time_ns = 100 * kMs, .pid = 10, .tid = 10},
                  {.type = TaskEvent::Type::kFork, .time_ns = 499 * kMs, .pid = 20, .tid = 20}}});
  EXPECT_EQ(timeline.time().start, 499 * kMs - 1);
  EXPECT_EQ(timeline.threads()[0].life().start, 499 * kMs - 1);
  EXPECT_EQ(timeline.threads()[1].life().start, 499 * kMs);
}

TEST_F(TimelineTest, KnowsOfEventsWithoutSamples) {
  recorded_.Ran(thread_, 100, recorded_.Calls({"main"}));
  recorded_.Ran(thread_, 130, recorded_.Calls({"main"}));
  EXPECT_THAT(Texts({.event_names = {"cpu-clock", "offcpu-time", "offcpu-runnable-time"}}),
              ElementsAre("100-130 running"));
}

TEST_F(TimelineTest, HasThreadsOfWhichOnlyAnotherEventIsKnown) {
  recorded_.Hit(thread_, "begin", 100);
  recorded_.Hit(thread_, "end", 150);
  EXPECT_THAT(Texts(), ElementsAre("100-150 not recorded"));
}

TEST_F(TimelineTest, KnowsWhoStartedAThreadAndWhomItWoke) {
  const convert::ThreadId parent = recorded_.Thread("parent", 20, 21);
  recorded_.WaitedForCpu(parent, 0, 50);
  recorded_.WaitedForCpu(thread_, 110, 150);
  recorded_.Slept(parent, 120, 160, recorded_.Calls({"wait"}));
  recorded_.Woke(thread_, 160, 21, 120, recorded_.Calls({"k:try_to_wake_up"}));
  profile_ = recorded_.Make();
  const Timeline timeline = Timeline::Build(profile_, {.events = {{.type = TaskEvent::Type::kFork,
                                                                   .time_ns = 100,
                                                                   .pid = 10,
                                                                   .tid = 10,
                                                                   .parent_pid = 20,
                                                                   .parent_tid = 21}}});
  ASSERT_THAT(timeline.threads(), SizeIs(2));
  const ThreadLine& line = timeline.threads()[0];
  EXPECT_EQ(line.parent, 1U);
  EXPECT_EQ(timeline.threads()[1].parent, kNone);
  EXPECT_TRUE(line.WokeIn({.start = 160, .end = 161}));
  EXPECT_FALSE(line.WokeIn({.start = 110, .end = 160}));
  EXPECT_FALSE(line.WokeIn({.start = 161, .end = 200}));
}

// What happened behind the window was not read.
TEST_F(TimelineTest, RunsAtTheBordersOfAWindow) {
  recorded_.WaitedForCpu(recorded_.Thread("other", 20, 20), 0, 9000);
  recorded_.WaitedForCpu(thread_, 110, 150);
  profile_ = recorded_.Make();
  const Timeline timeline = Timeline::Build(
      profile_, {.events = {{.type = TaskEvent::Type::kFork, .time_ns = 50, .pid = 10, .tid = 10}},
                 .window = convert::TimeWindow{.first = 100, .last = 200}});
  EXPECT_THAT(TextsOf(timeline.threads()[0]),
              ElementsAre("100-110 running", "110-150 runnable", "150-200 running"));
}

TEST_F(TimelineTest, EndsAtTheBordersOfAWindow) {
  recorded_.Slept(thread_, 0, 100, recorded_.Calls({"main"}));
  recorded_.WaitedForCpu(thread_, 200, 300);
  recorded_.SleptShortly(thread_, 400, 20);
  EXPECT_THAT(
      Texts({.window = convert::TimeWindow{.first = 50, .last = 350}}),
      ElementsAre("50-100 sleep", "100-200 running 10", "200-300 runnable", "300-350 running 5"));
}

TEST_F(TimelineTest, HasNoIdleTaskAndNoThreadThatOnlyWoke) {
  recorded_.Ran(recorded_.Thread("swapper", 0, 0), 100, recorded_.Calls({"k:idle"}));
  recorded_.Woke(recorded_.Thread("other", 20, 20), 150, 10, 100, recorded_.Calls({"k:ttwu"}));
  EXPECT_THAT(Timeline::Build(recorded_.Make(), {}).threads(), IsEmpty());
}

TEST_F(TimelineTest, FindsTheWakeupThatEndedAWait) {
  const ThreadId other = recorded_.Thread("other", 10, 11);
  recorded_.Slept(thread_, 100, 201, recorded_.Calls({"main"}));
  recorded_.Slept(thread_, 300, 401, recorded_.Calls({"main"}));
  recorded_.Woke(other, 200, 10, 100, recorded_.Calls({"k:ttwu"}));
  recorded_.Woke(other, 200, 12, 100, recorded_.Calls({"k:ttwu"}));  // another thread
  profile_ = recorded_.Make();
  const Timeline timeline = Timeline::Build(profile_, {});
  const ThreadLine& line = timeline.threads()[timeline.Find(10, 10)];
  ASSERT_THAT(line.wakeups, SizeIs(1));
  const std::vector<Interval>& intervals = line.intervals;
  EXPECT_EQ(line.WakeupOf(intervals.front()), &line.wakeups.front());
  EXPECT_THAT(line.WakeupOf(intervals.back()), IsNull());
}

// The kernel did not report that the thread got a CPU between both waits.
TEST_F(TimelineTest, LeavesOutAWakeupThatHasTheStartOfAnotherWait) {
  const ThreadId other = recorded_.Thread("other", 10, 12);
  recorded_.Slept(thread_, 300, 400, recorded_.Calls({"main", "wait"}));
  recorded_.Woke(other, 301, 10, 100, recorded_.Calls({"k:ttwu"}));
  recorded_.Woke(other, 399, 10, 300, recorded_.Calls({"k:ttwu"}));
  profile_ = recorded_.Make();
  const Timeline timeline = Timeline::Build(profile_, {});
  const ThreadLine& line = timeline.threads()[timeline.Find(10, 10)];
  ASSERT_THAT(line.wakeups, SizeIs(1));
  EXPECT_EQ(line.wakeups.front().time_ns, 399);
}

TEST_F(TimelineTest, JoinsWakeupsWithoutAThreadByTheStartOfTheWait) {
  const ThreadId second = recorded_.Thread("second", 10, 12);
  const ThreadId other = recorded_.Thread("other", 10, 11);
  recorded_.Slept(thread_, 100, 201, recorded_.Calls({"main"}));
  recorded_.Slept(second, 150, 301, recorded_.Calls({"main"}));
  recorded_.WokeSomeone(other, 300, 150, recorded_.Calls({"k:ttwu"}));
  recorded_.WokeSomeone(other, 400, 160, recorded_.Calls({"k:ttwu"}));  // no wait began then
  profile_ = recorded_.Make();
  const Timeline timeline = Timeline::Build(profile_, {});
  EXPECT_THAT(timeline.threads()[timeline.Find(10, 10)].wakeups, IsEmpty());
  EXPECT_THAT(timeline.threads()[timeline.Find(10, 12)].wakeups, SizeIs(1));
}

// A damaged recording can have any number.
TEST_F(TimelineTest, SurvivesAbsurdTimes) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  recorded_.Slept(thread_, 0, kMost, recorded_.Calls({"main"}));
  recorded_.Slept(thread_, 100 - kMost, 100, recorded_.Calls({"main"}));
  recorded_.SleptShortly(thread_, 150, kMost);
  recorded_.Woke(recorded_.Thread("other", 10, 11), 100, 10, 100 - kMost, recorded_.Calls({"x"}));
  recorded_.WaitedForCpu(thread_, 200, 300);
  EXPECT_THAT(Texts().back(), "200-300 runnable");
}

// A damaged or foreign recording can have them.
TEST_F(TimelineTest, CutsWaitsThatOverlap) {
  recorded_.WaitedForCpu(thread_, 100, 200);
  recorded_.Slept(thread_, 150, 250, recorded_.Calls({"main"}));
  recorded_.Slept(thread_, 160, 170, recorded_.Calls({"main"}));
  EXPECT_THAT(Texts(), ElementsAre("100-200 runnable", "200-250 sleep"));
}

TEST_F(TimelineTest, KnowsWhatACpuRan) {
  recorded_.Ran(thread_, 100, recorded_.Calls({"main"}), 3);
  recorded_.Ran(thread_, 200, recorded_.Calls({"main"}), 3);
  profile_ = recorded_.Make();
  const Timeline timeline = Timeline::Build(profile_, {});
  EXPECT_THAT(timeline.RanOn(3, {.start = 50, .end = 150}), SizeIs(1));
  EXPECT_THAT(timeline.RanOn(2, {.start = 50, .end = 150}), IsEmpty());
  EXPECT_THAT(timeline.RanOn(kNone, {.start = 50, .end = 150}), IsEmpty());
}

}  // namespace
}  // namespace perftape::timeline
