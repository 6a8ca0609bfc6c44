// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/parallelism.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convert/model/sample_thread.h"
#include "tests/convert/timeline/recorded_threads.h"

namespace perftape::timeline {
namespace {

using convert::Profile;
using convert::TaskEvent;
using convert::ThreadId;
using convert::ThreadSwitch;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

// "main 2: 30", the innermost function, the parallelism and the period.
std::vector<std::string> TextsOf(const Profile& profile) {
  std::vector<std::string> texts;
  for (const convert::Sample& sample : profile.samples()) {
    const convert::Location& leaf = profile[profile[sample.stack].leaf];
    texts.push_back(fmt::format("{} {}: {}",
                                profile.text(profile[leaf.lines.front().function].name),
                                convert::ParallelismOf(profile, sample), sample.period));
  }
  return texts;
}

ThreadSwitch In(std::int64_t time_ns, std::uint32_t tid, std::uint32_t pid = 10) {
  return {.time_ns = time_ns, .pid = pid, .tid = tid, .is_in = true};
}
ThreadSwitch Out(std::int64_t time_ns, std::uint32_t tid, std::uint32_t pid = 10) {
  return {.time_ns = time_ns, .pid = pid, .tid = tid, .is_in = false};
}

class ParallelismTest : public testing::Test {
 protected:
  // The number of a process's threads at some times.
  static std::vector<std::int64_t> Numbers(const RunningThreads& running,
                                           const std::vector<std::int64_t>& times,
                                           std::uint32_t pid = 10) {
    std::vector<std::int64_t> numbers;
    for (const std::int64_t time : times) numbers.push_back(running.At(pid, time));
    return numbers;
  }

  RunningThreads FromSwitches(const std::vector<ThreadSwitch>& switches,
                              const std::vector<TaskEvent>& events = {}) {
    profile_ = recorded_.Make();
    return RunningThreads::From(Timeline::Build(profile_, {}), switches, events);
  }

  RecordedThreads recorded_;
  ThreadId one_ = recorded_.Thread("one", 10, 10);
  ThreadId two_ = recorded_.Thread("two", 10, 11);
  Profile profile_;
};

TEST_F(ParallelismTest, CountsTheThreadsOfAProcessThatAreInNoWait) {
  recorded_.WaitedForCpu(one_, 0, 10);
  recorded_.WaitedForCpu(two_, 0, 50);
  recorded_.Slept(two_, 80, 100, recorded_.Calls({"main"}));
  recorded_.WaitedForCpu(recorded_.Thread("other", 20, 20), 0, 10);
  recorded_.WaitedForCpu(one_, 90, 100);
  profile_ = recorded_.Make();
  const RunningThreads running = RunningThreads::From(Timeline::Build(profile_, {}));
  EXPECT_THAT(Numbers(running, {10, 49, 50, 79, 80}), ElementsAre(1, 1, 2, 2, 1));
  EXPECT_THAT(Numbers(running, {50}, 20), ElementsAre(1));
  EXPECT_THAT(Numbers(running, {50}, 30), ElementsAre(1));
}

TEST_F(ParallelismTest, CountsAllThreadsBetweenContextSwitches) {
  const RunningThreads running = FromSwitches(
      {In(10, 10), In(20, 11), In(30, 20, 20), Out(40, 10), Out(50, 11), Out(60, 20, 20)});
  EXPECT_THAT(Numbers(running, {5, 10, 20, 30, 40, 50, 60}), ElementsAre(1, 1, 2, 3, 2, 1, 1));
}

TEST_F(ParallelismTest, CountsTheThreadsOfAProcessIfWholeCpusWereRecorded) {
  std::vector<ThreadSwitch> switches = {In(10, 10), In(20, 11), In(30, 20, 20), In(40, 0, 0)};
  for (ThreadSwitch& one : switches) one.is_cpu_wide = true;
  const RunningThreads running = FromSwitches(switches);
  EXPECT_THAT(Numbers(running, {50}), ElementsAre(2));
  EXPECT_THAT(Numbers(running, {50}, 20), ElementsAre(1));
}

TEST_F(ParallelismTest, DoesNotCountThreadsThatHaveExited) {
  EXPECT_THAT(Numbers(FromSwitches({In(10, 10), Out(30, convert::kUnknownId)}), {20}),
              ElementsAre(1));
}

TEST_F(ParallelismTest, AThreadThatIsSwitchedOutFirstRanBefore) {
  const RunningThreads running = FromSwitches({Out(30, 10), In(10, 11)});
  EXPECT_THAT(Numbers(running, {5, 10, 30}), ElementsAre(1, 2, 1));
}

// perf record starts in the exec of the command, and a thread exits without a context switch.
TEST_F(ParallelismTest, AThreadRunsFromItsExecToItsExit) {
  const RunningThreads running =
      FromSwitches({In(10, 11), Out(70, 11), Out(40, 10), In(50, 10)},
                   {{.type = TaskEvent::Type::kExec, .time_ns = 20, .pid = 10, .tid = 10},
                    {.type = TaskEvent::Type::kExit, .time_ns = 60, .pid = 10, .tid = 10}});
  EXPECT_THAT(Numbers(running, {15, 20, 40, 50, 60}), ElementsAre(1, 2, 1, 2, 1));
}

TEST_F(ParallelismTest, ANewThreadRunsOnlyWhenItIsSwitchedIn) {
  const RunningThreads running =
      FromSwitches({In(10, 10), In(30, 11)},
                   {{.type = TaskEvent::Type::kFork, .time_ns = 20, .pid = 10, .tid = 11}});
  EXPECT_THAT(Numbers(running, {25, 30}), ElementsAre(1, 2));
}

TEST_F(ParallelismTest, AThreadWithoutContextSwitchesRanBetweenItsSamples) {
  recorded_.Ran(one_, 20, recorded_.Calls({"main"}));
  recorded_.Ran(one_, 40, recorded_.Calls({"main"}));
  const RunningThreads running = FromSwitches({In(10, 11)});
  EXPECT_THAT(Numbers(running, {15, 20, 39, 40}), ElementsAre(1, 2, 2, 1));
}

class LabelParallelismTest : public ParallelismTest {
 protected:
  LabelParallelismTest() {
    recorded_.WaitedForCpu(one_, 0, 10);
    recorded_.WaitedForCpu(two_, 0, 50);
    recorded_.Ran(one_, 20, recorded_.Calls({"serial"}));
    recorded_.Ran(one_, 30, recorded_.Calls({"serial"}));
    recorded_.Ran(one_, 55, recorded_.Calls({"parallel"}));
    recorded_.Ran(two_, 56, recorded_.Calls({"parallel"}));
    recorded_.WaitedForCpu(one_, 90, 100);
    profile_ = recorded_.Make();
  }

  Profile Label(const std::vector<ThreadNumbers>& kept = {}) {
    const Timeline timeline = Timeline::Build(profile_, {});
    return LabelParallelism(timeline, RunningThreads::From(timeline), kept);
  }
};

TEST_F(LabelParallelismTest, JoinsTheSamplesOfTheClock) {
  const Profile profile = Label();
  EXPECT_THAT(TextsOf(profile),
              UnorderedElementsAre("serial 1: 60", "parallel 2: 30", "parallel 2: 30"));
  EXPECT_EQ(profile.events().size(), 1U);
  EXPECT_FALSE(convert::HasTimes(profile));
}

TEST_F(LabelParallelismTest, KeepsSomeNumbers) {
  EXPECT_THAT(TextsOf(Label({{.first = 1, .last = 1}})), ElementsAre("serial 1: 60"));
  EXPECT_THAT(TextsOf(Label({{.first = 5, .last = 5}, {.first = 2}})),
              UnorderedElementsAre("parallel 2: 30", "parallel 2: 30"));
}

TEST_F(LabelParallelismTest, DividesPeriodsForTheLatency) {
  const Profile latency = ToLatency(Label());
  EXPECT_THAT(TextsOf(latency),
              UnorderedElementsAre("serial 1: 60", "parallel 2: 15", "parallel 2: 15"));
  EXPECT_EQ(latency.text(latency.events().front().name), kLatencyEvent);
}

}  // namespace
}  // namespace perftape::timeline
