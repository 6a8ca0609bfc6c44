// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/time_lanes.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "convert/export/shown_numbers.h"
#include "convert/model/sample_thread.h"
#include "tests/convert/timeline/recorded_threads.h"

namespace perftape::flame_graph {
namespace {

using convert::Profile;
using convert::TaskEvent;
using convert::ThreadId;
using testing::ElementsAre;
using testing::IsEmpty;
using timeline::RecordedThreads;
using timeline::State;
using timeline::Timeline;

class TimeLanesTest : public testing::Test {
 protected:
  std::optional<TimeLanes> Make(const convert::TaskEvents& events = {},
                                const LaneLimits& limits = {}, std::string_view trigger = {}) {
    profile_ = recorded_.Make();
    RootedFrameTable frames(profile_, {});
    std::vector<StackForest> forests;
    const std::vector<convert::EventId> shown = convert::EventsWithSamples(profile_);
    for (const convert::EventId event : shown) {
      forests.push_back(StackForest::Of(profile_, event, frames, KeepSamples::kYes));
    }
    std::vector<LaneTab> tabs;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      trees_.push_back(forests[i].Join(frames.Ranks()));
      tabs.push_back({.event = shown[i], .tree = &trees_.back()});
      names_.emplace_back(profile_.text(profile_[shown[i]].name));
    }
    timeline_ = Timeline::Build(profile_, {.events = events});
    return MakeTimeLanes(
        timeline_, tabs,
        {.tasks = events, .trigger = trigger, .windows = windows_, .window_name = "request"},
        limits);
  }

  // Returns "sleep 20" of each interval, with " sample" and the waker, if it has them.
  static std::vector<std::string> Intervals(const Lane& lane) {
    std::vector<std::string> texts;
    for (const LaneInterval& interval : lane.intervals) {
      const auto waker = static_cast<std::uint32_t>(interval.waker);
      texts.push_back(fmt::format(
          "{} {}{}{}", NameOf(interval.state), interval.length, interval.is_sample ? " sample" : "",
          waker == 0 ? "" : fmt::format(" waker {}-{}", waker, interval.woken_before_end)));
    }
    return texts;
  }

  std::size_t TabOf(std::string_view name) const {
    return static_cast<std::size_t>(std::ranges::find(names_, name) - names_.begin());
  }

  RecordedThreads recorded_;
  Profile profile_;
  std::deque<StackTree> trees_;
  std::vector<std::string> names_;
  Timeline timeline_;
  std::vector<timeline::ThreadWindow> windows_;
};

// Times of a large recording are rounded, so those before and after an exec can be equal.
TEST_F(TimeLanesTest, NamesAThreadByTheRowThatBeganLaterWhateverTheirOrder) {
  convert::ProfileBuilder& builder = recorded_.made.builder;
  const auto add = [&](std::string_view comm, std::uint32_t pid, std::uint32_t first_ms) {
    const convert::Label time = recorded_.Number(convert::kTimestampLabel, 1000);
    builder.Add(convert::Sample{.thread = recorded_.Thread(comm, pid, pid),
                                .event = recorded_.made.Counts("cycles"),
                                .labels = builder.Add(std::vector{time}),
                                .count = 1,
                                .period = 1,
                                .first_ms = first_ms});
  };
  recorded_.Hit(recorded_.Thread("other", 5, 5), "cycles", 500);
  add("zsh", 10, 1);
  add("ls", 10, 2);
  add("ls", 20, 2);
  add("zsh", 20, 1);
  const auto time = Make();
  ASSERT_TRUE(time);
  for (const Lane& lane : time->lanes) {
    EXPECT_EQ(lane.comm, lane.pid == 5 ? "other" : "ls") << lane.pid;
  }
}

TEST_F(TimeLanesTest, SortsTheBusiestProcessFirst) {
  const ThreadId idle = recorded_.Thread("swapper", 0, 0);
  const ThreadId lazy = recorded_.Thread("lazy", 10, 10);
  const ThreadId busy = recorded_.Thread("busy", 20, 20);
  const ThreadId busier = recorded_.Thread("busier", 20, 21);
  for (int i = 1; i <= 9; ++i) recorded_.Ran(idle, i * 100, recorded_.Calls({"k:idle"}));
  recorded_.Ran(lazy, 100, recorded_.Calls({"f"}));
  recorded_.Ran(busy, 200, recorded_.Calls({"f"}));
  for (int i = 1; i <= 3; ++i) recorded_.Ran(busier, i * 50, recorded_.Calls({"f"}));
  const std::optional<TimeLanes> time = Make();
  ASSERT_TRUE(time);
  std::vector<std::string_view> comms;
  for (const Lane& lane : time->lanes) comms.push_back(lane.comm);
  EXPECT_THAT(comms, ElementsAre("busier", "busy", "lazy", "swapper"));
  EXPECT_THAT(time->lanes[0].intervals, IsEmpty()) << "without waits, samples are enough";
  EXPECT_EQ(time->lanes[0].samples[0].size(), 3);
}

TEST_F(TimeLanesTest, HasWhatACriticalPathGoesThrough) {
  const ThreadId main = recorded_.Thread("main", 10, 10);
  const ThreadId worker = recorded_.Thread("worker", 10, 11);
  const convert::StackId wait = recorded_.Calls({"loop", "epoll_wait"});
  const convert::StackId wakes = recorded_.Calls({"send", "k:try_to_wake_up"});
  const convert::StackId timer =
      recorded_.Calls({"k:asm_sysvec_apic_timer_interrupt", "k:hrtimer_wakeup"});
  recorded_.WaitedForCpu(main, 0, 5);
  recorded_.Slept(main, 30, 50, wait);
  recorded_.Woke(worker, 49, 10, 30, timer);
  recorded_.Slept(main, 52, 100, wait);
  recorded_.Woke(worker, 99, 10, 52, wakes);
  recorded_.WaitedForCpu(worker, 10, 20);
  recorded_.Ran(worker, 60, recorded_.Calls({"work"}));
  const std::optional<TimeLanes> time = Make({{.type = TaskEvent::Type::kFork,
                                               .time_ns = 10,
                                               .pid = 10,
                                               .tid = 11,
                                               .parent_pid = 10,
                                               .parent_tid = 10}});
  ASSERT_TRUE(time);
  ASSERT_EQ(time->lanes.size(), 2);
  const std::size_t of_worker = time->lanes[0].tid == 11 ? 0 : 1;
  EXPECT_EQ(time->lanes[of_worker].parent, 1 - of_worker);
  EXPECT_EQ(time->lanes[1 - of_worker].parent, std::nullopt);
  std::vector<std::uint32_t> timeouts;
  for (const LaneInterval& interval : time->lanes[1 - of_worker].intervals) {
    if (interval.waker != WakerCode::kNone) timeouts.push_back(interval.timeouts);
  }
  EXPECT_THAT(timeouts, ElementsAre(0, 22)) << "the second wait is one with the first";
}

TEST_F(TimeLanesTest, HasStatesWakersAndSamplesOfThreads) {
  const ThreadId main = recorded_.Thread("main", 10, 10);
  const ThreadId worker = recorded_.Thread("worker", 10, 11);
  const convert::StackId timer =
      recorded_.Calls({"k:asm_sysvec_apic_timer_interrupt", "k:hrtimer_wakeup"});
  recorded_.WaitedForCpu(main, 0, 5);
  recorded_.Slept(main, 30, 101, recorded_.Calls({"main", "lock"}));
  recorded_.Woke(worker, 100, 10, 30, recorded_.Calls({"unlock", "k:try_to_wake_up"}));
  recorded_.Slept(main, 110, 130, recorded_.Calls({"main", "usleep"}));
  recorded_.Woke(worker, 128, 10, 110, timer);
  recorded_.WaitedForCpu(worker, 0, 20);
  recorded_.Ran(worker, 50, recorded_.Calls({"work"}));
  recorded_.SleptShortly(main, 130, 4);
  const std::optional<TimeLanes> time = Make();
  ASSERT_TRUE(time);
  EXPECT_EQ(time->unit_ns, 1);
  EXPECT_EQ(time->length, 130);
  ASSERT_EQ(time->lanes.size(), 2);
  EXPECT_EQ(time->lanes[0].tid, 11);
  EXPECT_THAT(Intervals(time->lanes[1]),
              ElementsAre("runnable 5 sample", "running 25", "sleep 71 sample waker 6-1",
                          "running 9", "sleep 20 sample waker 2-2"));
  EXPECT_EQ(time->lanes[1].intervals[1].short_waits, 2) << "its share of the sum";
  const std::size_t sleep = TabOf("offcpu-time");
  EXPECT_EQ(time->kinds[sleep], EventKind::kWait);
  EXPECT_EQ(time->kinds[TabOf("wakeup")], EventKind::kWakeup);
  EXPECT_EQ(time->kinds[TabOf("cpu-clock")], EventKind::kOnCpu);
  const LaneInterval& wait = time->lanes[1].intervals[2];
  EXPECT_EQ(wait.tab, sleep);
  ASSERT_EQ(time->lanes[1].samples[sleep].size(), 1) << "the sum of short waits is no interval";
  EXPECT_EQ(time->lanes[1].samples[sleep][0].period, 4);
  EXPECT_EQ(time->lanes[0].samples[TabOf("wakeup")].size(), 2);
}

TEST_F(TimeLanesTest, KnowsHowLongProgramsRanThatWereNotRecorded) {
  const ThreadId main = recorded_.Thread("main", 10, 10);
  const ThreadId worker = recorded_.Thread("worker", 10, 11);
  recorded_.Ran(main, 1000, recorded_.Calls({"work"}));
  recorded_.WaitedForCpu(worker, 0, 3000);
  const std::optional<TimeLanes> time = Make();
  ASSERT_TRUE(time);
  EXPECT_EQ(time->cpu_waits.waited, 3000);
  EXPECT_EQ(time->cpu_waits.not_recorded, 3000 - RecordedThreads::kPeriod);
}

TEST_F(TimeLanesTest, HasOneNodeForEachSample) {
  const ThreadId main = recorded_.Thread("main", 10, 10);
  recorded_.Ran(main, 50, recorded_.Calls({"main", "b"}));
  recorded_.Ran(main, 90, recorded_.Calls({"main", "a"}));
  const std::optional<TimeLanes> time = Make();
  ASSERT_TRUE(time);
  ASSERT_EQ(time->lanes[0].samples[0].size(), 2);
  // The tree is main (the thread), main, a, b.
  EXPECT_EQ(time->lanes[0].samples[0][0].node, 3);
  EXPECT_EQ(time->lanes[0].samples[0][1].node, 2);
}

TEST_F(TimeLanesTest, HasALaneOfUnknownThreads) {
  recorded_.Ran(recorded_.Thread("main", 10, 10), 50, recorded_.Calls({"f"}));
  recorded_.Ran(recorded_.Thread(":-1", convert::kUnknownId, convert::kUnknownId), 90,
                recorded_.Calls({"f"}));
  const std::optional<TimeLanes> time = Make();
  ASSERT_TRUE(time);
  ASSERT_EQ(time->lanes.size(), 2);
  EXPECT_EQ(time->lanes[1].tid, convert::kUnknownId);
  EXPECT_EQ(time->lanes[1].samples[0].size(), 1);
}

TEST_F(TimeLanesTest, HasNothingWithoutTimes) {
  recorded_.made.Hit(recorded_.Calls({"f"}), recorded_.Thread("app", 1, 1),
                     recorded_.made.Counts("cycles"), 1);
  EXPECT_FALSE(Make());
}

TEST_F(TimeLanesTest, HasEventsOfThreads) {
  const ThreadId main = recorded_.Thread("main", 10, 10);
  recorded_.Ran(main, 50, recorded_.Calls({"f"}));
  recorded_.Ran(main, 500, recorded_.Calls({"f"}));
  const convert::TaskEvents events = {
      {.type = TaskEvent::Type::kExec, .time_ns = 100, .pid = 10, .tid = 10, .comm = "new"},
      {.type = TaskEvent::Type::kExec, .time_ns = 100, .pid = 7, .tid = 7, .comm = "other"},
      {.type = TaskEvent::Type::kLoss, .time_ns = 60, .lost = 3},
      {.type = TaskEvent::Type::kComm, .time_ns = 9000, .pid = 10, .tid = 10, .comm = "late"},
  };
  const std::optional<TimeLanes> time = Make(events);
  ASSERT_TRUE(time);
  ASSERT_EQ(time->markers.size(), 2) << "of threads with lanes, while there are samples";
  EXPECT_EQ(time->markers[0].text, "3");
  EXPECT_FALSE(time->markers[0].lane);
  EXPECT_EQ(time->markers[1].text, "new");
  EXPECT_EQ(time->markers[1].lane, 0);
}

TEST_F(TimeLanesTest, EndsWithTheReasonOfAFlightRecorder) {
  recorded_.Ran(recorded_.Thread("main", 10, 10), 50, recorded_.Calls({"f"}));
  recorded_.Ran(recorded_.Thread("main", 10, 10), 500, recorded_.Calls({"f"}));
  const std::optional<TimeLanes> time = Make({}, {}, "load above 8");
  ASSERT_TRUE(time);
  ASSERT_EQ(time->markers.size(), 1);
  EXPECT_EQ(time->markers[0].type, MarkerType::kTrigger);
  EXPECT_EQ(time->markers[0].text, "load above 8");
  EXPECT_EQ(time->markers[0].time, time->length);
}

TEST_F(TimeLanesTest, LeavesOutForksBeforeOtherEvents) {
  const ThreadId main = recorded_.Thread("main", 10, 10);
  recorded_.Ran(main, 50, recorded_.Calls({"f"}));
  recorded_.Ran(main, 500, recorded_.Calls({"f"}));
  convert::TaskEvents events = {
      {.type = TaskEvent::Type::kExit, .time_ns = 90, .pid = 10, .tid = 10},
      {.type = TaskEvent::Type::kExec, .time_ns = 100, .pid = 10, .tid = 10, .comm = "new"}};
  const std::optional<TimeLanes> time = Make(events, {.markers = 1});
  ASSERT_EQ(time->markers.size(), 1);
  EXPECT_EQ(time->markers[0].type, MarkerType::kExec);
}

// 40,000 short states and a long wait.
TEST_F(TimeLanesTest, JoinsWhatIsTooShortToSee) {
  const ThreadId main = recorded_.Thread("main", 10, 10);
  const convert::StackId stack = recorded_.Calls({"main", "wait"});
  std::int64_t at = 1000;
  for (int i = 0; i < 20'000; ++i, at += 4) recorded_.Slept(main, at, at + 3, stack);
  recorded_.WaitedForCpu(main, at, at + 5000, stack);
  recorded_.Ran(main, at + 6000, stack);
  const std::optional<TimeLanes> time = Make({}, {.intervals = 1000, .samples = 4000});
  ASSERT_TRUE(time);
  EXPECT_GT(time->shortest, 1);
  ASSERT_EQ(time->lanes.size(), 1);
  const Lane& lane = time->lanes[0];
  EXPECT_LE(lane.intervals.size(), 8000) << "no part of 4,000 has more than two";
  std::uint64_t sum = 0;
  for (const LaneInterval& interval : lane.intervals) sum += interval.length;
  EXPECT_EQ(sum + lane.start, time->length);
  EXPECT_EQ(lane.intervals.front().state, State::kSleep) << "it took most of the time";
  EXPECT_FALSE(lane.intervals.front().is_sample);
  EXPECT_THAT(Intervals(lane), testing::Contains("runnable 5000 sample"));
  std::int64_t count = 0, period = 0;
  for (const LaneSample& sample : lane.samples[TabOf("offcpu-time")]) {
    count += sample.count;
    period += sample.period;
  }
  EXPECT_EQ(count, 20'000);
  EXPECT_EQ(period, 60'000);
}

TEST_F(TimeLanesTest, JoinsNoMoreThanItMust) {
  const ThreadId main = recorded_.Thread("main", 10, 10);
  const convert::StackId stack = recorded_.Calls({"main", "wait"});
  std::int64_t at = 1'000'000;
  for (int i = 0; i < 1000; ++i, at += 4) recorded_.Slept(main, at, at + 3, stack);
  recorded_.Slept(main, at, at + 10'000'000, stack);
  const std::optional<TimeLanes> coarse = Make({}, {.intervals = 10});
  ASSERT_TRUE(coarse);
  EXPECT_LE(coarse->lanes[0].intervals.size(), 10);
  EXPECT_LT(coarse->shortest, coarse->length / 4000) << "there is room for a smaller part";
}

TEST_F(TimeLanesTest, HasTheLongestWindowsOfAPath) {
  const ThreadId main = recorded_.Thread("main", 10, 10);
  recorded_.Slept(main, 1000, 2000, recorded_.Calls({"main", "wait"}));
  windows_ = {{.pid = 10, .tid = 10, .time = {.start = 1500, .end = 1600}},
              {.pid = 10, .tid = 10, .time = {.start = 1100, .end = 1110}},
              {.pid = 10, .tid = 10, .time = {.start = 1300, .end = 1450}},
              {.pid = 10, .tid = 77, .time = {.start = 1000, .end = 2000}},
              {.pid = 10, .tid = 10, .time = {.start = 3000, .end = 3001}}};
  const std::optional<TimeLanes> time = Make({}, {.windows = 2});
  ASSERT_TRUE(time);
  EXPECT_EQ(time->windows.name, "request");
  EXPECT_EQ(time->windows.count, 3) << "without those of no lane, or of another time";
  std::vector<std::string> texts;
  for (const LaneWindow& window : time->windows.shown) {
    texts.push_back(fmt::format("{} {}+{}", window.lane, window.start, window.length));
  }
  EXPECT_THAT(texts, ElementsAre("0 300+150", "0 500+100"));
}

TEST(EventKinds, TellTracepointsFromModifiers) {
  EXPECT_EQ(KindOf("cycles:u"), EventKind::kOther);
  EXPECT_EQ(KindOf("cycles:ppp"), EventKind::kOther);
  EXPECT_EQ(KindOf("cpu_core/cycles/P"), EventKind::kOther);
  EXPECT_EQ(KindOf("syscalls:sys_enter_read"), EventKind::kHappened);
  EXPECT_EQ(KindOf("sched:sched_switch"), EventKind::kSwitch);
  EXPECT_EQ(KindOf("lock-time"), EventKind::kWait);
  EXPECT_EQ(KindOf("wall-clock"), EventKind::kWhole);
  EXPECT_EQ(KindOf("critical-path"), EventKind::kPath);
}

}  // namespace
}  // namespace perftape::flame_graph
