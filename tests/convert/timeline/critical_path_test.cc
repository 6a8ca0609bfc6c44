// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/critical_path.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convert/timeline/cpu_waits.h"
#include "tests/convert/timeline/recorded_threads.h"
#include "tests/convert/timeline/stack_sums.h"

namespace perftape::timeline {
namespace {

using convert::Profile;
using convert::ThreadId;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

// path_vectors.json has more walks.
class CriticalPathTest : public testing::Test {
 protected:
  // Walks from `start` to `end` of the thread with this tid. Returns "0-10 main running".
  std::vector<std::string> Walk(std::uint32_t tid, std::int64_t start, std::int64_t end,
                                const convert::TaskEvents& events = {}) {
    profile_ = recorded_.Make();
    timeline_ = Timeline::Build(profile_, {.events = events});
    path_ = WalkPath(timeline_,
                     {{.thread = timeline_.Find(10, tid), .time = {.start = start, .end = end}}});
    std::vector<std::string> texts;
    for (const Step& step : path_.steps) {
      const ThreadId thread = timeline_.threads()[step.thread].thread;
      texts.push_back(fmt::format("{}-{} {} {}", step.time.start, step.time.end,
                                  profile_.text(profile_[thread].comm), NameOf(step.reason)));
    }
    EXPECT_EQ(path_.window_ns(), end - start);
    EXPECT_EQ(TotalOf(ToProfile(timeline_, path_).profile), end - start);
    return texts;
  }

  RecordedThreads recorded_;
  ThreadId main_ = recorded_.Thread("main", 10, 10);
  ThreadId worker_ = recorded_.Thread("worker", 10, 11);
  convert::StackId ttwu_ = recorded_.Calls({"unlock", "k:try_to_wake_up"});
  Profile profile_;
  Timeline timeline_;
  CriticalPath path_;
};

TEST_F(CriticalPathTest, GoesOnThroughTheThreadThatWoke) {
  recorded_.WaitedForCpu(main_, 0, 5);
  recorded_.WaitedForCpu(worker_, 0, 20);
  recorded_.Slept(main_, 30, 101, recorded_.Calls({"main", "lock"}));
  recorded_.Woke(worker_, 100, 10, 30, ttwu_);
  recorded_.WaitedForCpu(main_, 101, 110);
  recorded_.Ran(worker_, 50, recorded_.Calls({"work"}));
  recorded_.Ran(main_, 115, recorded_.Calls({"main", "finish"}));
  recorded_.Slept(main_, 120, 130, recorded_.Calls({"main", "end"}));
  recorded_.Slept(worker_, 120, 130, recorded_.Calls({"work", "end"}));
  EXPECT_THAT(Walk(10, 0, 120), ElementsAre("0-5 main runnable", "5-30 main running",
                                            "30-100 worker running", "100-101 main runnable",
                                            "101-110 main runnable", "110-120 main running"));
  EXPECT_EQ(path_.explained_ns(), 120);
  std::vector<std::string> hops;
  for (const Hop& hop : HopsOf(timeline_, path_)) {
    hops.push_back(fmt::format("{}+{} {}", hop.start_ns, hop.ns, NameOf(hop.reason)));
  }
  EXPECT_THAT(hops, ElementsAre("0+5 runnable", "5+25 running", "30+70 running", "100+10 runnable",
                                "110+10 running"));
  const PathProfile made = ToProfile(timeline_, path_);
  EXPECT_THAT(SumsOf(made.profile),
              UnorderedElementsAre(Pair("main;[runnable]", 14), Pair("main;main;finish", 35),
                                   Pair("main;main;lock;waits for worker;work", 70),
                                   Pair("main;main;lock;[runnable]", 1)));
  ASSERT_FALSE(made.parts.empty());
  EXPECT_EQ(profile_.text(profile_[made.parts.front().thread].comm), "worker");
  EXPECT_EQ(made.parts.front().ns, 70);
}

TEST_F(CriticalPathTest, GoesOnThroughTheThreadThatStartedAnother) {
  const ThreadId parent = recorded_.Thread("parent", 8, 8);
  recorded_.WaitedForCpu(parent, 0, 20);
  recorded_.WaitedForCpu(worker_, 50, 60);
  const convert::TaskEvent fork = {.type = convert::TaskEvent::Type::kFork,
                                   .time_ns = 49,
                                   .pid = 10,
                                   .tid = 11,
                                   .parent_pid = 8,
                                   .parent_tid = 8};
  EXPECT_THAT(Walk(11, 10, 60, {fork}), ElementsAre("10-20 parent runnable", "20-50 parent running",
                                                    "50-60 worker runnable"));
  EXPECT_THAT(SumsOf(ToProfile(timeline_, path_).profile),
              UnorderedElementsAre(Pair("worker;started by parent;[runnable]", 10),
                                   Pair("worker;started by parent;[not sampled]", 30),
                                   Pair("worker;[runnable]", 10)));
}

// Without waits for CPUs, a thread ran at its samples, and its time ends with them.
TEST_F(CriticalPathTest, ASampleStandsForTheTimeBeforeIt) {
  recorded_.Slept(main_, 10, 20, recorded_.Calls({"main"}));
  recorded_.Ran(main_, 100, recorded_.Calls({"first"}));
  recorded_.Ran(main_, 110, recorded_.Calls({"second"}));
  recorded_.Slept(main_, 120, 130, recorded_.Calls({"main"}));
  Walk(10, 60, 120);
  EXPECT_THAT(SumsOf(ToProfile(timeline_, path_).profile),
              UnorderedElementsAre(Pair("main;[not recorded]", 20), Pair("main;first", 20),
                                   Pair("main;second", 20)));
}

// Waits of a recording of context switches have no samples.
TEST_F(CriticalPathTest, AWaitWithoutASampleIsNoBirth) {
  recorded_.Ran(main_, 5, recorded_.Calls({"main"}));
  recorded_.Ran(worker_, 5, recorded_.Calls({"work"}));
  recorded_.Woke(worker_, 40, 10, 10, ttwu_);
  profile_ = recorded_.Make();
  timeline_ = Timeline::Build(profile_,
                              {.switches = {{.time_ns = 10, .pid = 10, .tid = 10},
                                            {.time_ns = 40, .pid = 10, .tid = 10, .is_in = true}}});
  path_ =
      WalkPath(timeline_, {{.thread = timeline_.Find(10, 10), .time = {.start = 10, .end = 40}}});
  EXPECT_THAT(SumsOf(ToProfile(timeline_, path_).profile),
              UnorderedElementsAre(Pair("main;waits for worker;[not sampled]", 30)));
}

TEST_F(CriticalPathTest, JoinsWaitsWithEqualStacksToBranches) {
  recorded_.WaitedForCpu(main_, 0, 5);
  recorded_.WaitedForCpu(worker_, 0, 5);
  const convert::StackId lock = recorded_.Calls({"main", "lock"});
  for (const std::int64_t start : {10, 30}) {
    recorded_.Slept(main_, start, start + 10, lock);
    recorded_.Woke(worker_, start + 10, 10, start, ttwu_);
  }
  Walk(10, 5, 40);
  const PathProfile made = ToProfile(timeline_, path_);
  ASSERT_EQ(made.branches.size(), 1U);
  EXPECT_EQ(made.branches[0].outer, kNone);
  EXPECT_FALSE(made.branches[0].is_birth);
  EXPECT_EQ(profile_.text(profile_[made.branches[0].waker].comm), "worker");
  ASSERT_EQ(made.parts.size(), 2U);
  EXPECT_EQ(made.parts[0].ns, 20);
  EXPECT_EQ(made.parts[0].branch, 0U);
  EXPECT_EQ(made.parts[1].ns, 15);
  EXPECT_EQ(made.parts[1].branch, kNone);
}

TEST_F(CriticalPathTest, SaysHowMuchOfItWereShortWaits) {
  recorded_.WaitedForCpu(main_, 0, 100);
  recorded_.SleptShortly(main_, 200, 20);
  Walk(10, 50, 150);
  EXPECT_THAT(SumsOf(ToProfile(timeline_, path_).profile),
              UnorderedElementsAre(Pair("main;[runnable]", 50), Pair("main;[short waits]", 10),
                                   Pair("main;[not sampled]", 40)));
}

TEST_F(CriticalPathTest, AddsUpWindows) {
  recorded_.WaitedForCpu(main_, 0, 100);
  profile_ = recorded_.Make();
  timeline_ = Timeline::Build(profile_, {});
  path_ = WalkPath(timeline_, {{.thread = 0, .time = {.start = 10, .end = 30}},
                               {.thread = 0, .time = {.start = 40, .end = 40}},
                               {.thread = 0, .time = {.start = 50, .end = 60}}});
  EXPECT_EQ(path_.windows.size(), 2U) << "an empty window has no path";
  EXPECT_EQ(TotalOf(ToProfile(timeline_, path_).profile), 30);
}

TEST_F(CriticalPathTest, DividesTheTimeByTheNumberOfWindowsIfAsked) {
  recorded_.WaitedForCpu(main_, 0, 100);
  profile_ = recorded_.Make();
  timeline_ = Timeline::Build(profile_, {});
  path_ = WalkPath(timeline_, {{.thread = 0, .time = {.start = 10, .end = 30}},
                               {.thread = 0, .time = {.start = 50, .end = 60}}});
  const PathProfile made = ToProfile(timeline_, path_, PathValues::kAverageWindow);
  EXPECT_THAT(SumsOf(made.profile), UnorderedElementsAre(Pair("main;[runnable]", 15)));
  ASSERT_EQ(made.parts.size(), 1U);
  EXPECT_EQ(made.parts.front().ns, 30);
}

TEST_F(CriticalPathTest, SaysWhenIfAsked) {
  recorded_.WaitedForCpu(main_, 0, 10);
  recorded_.WaitedForCpu(worker_, 0, 20);
  recorded_.Slept(main_, 30, 100, recorded_.Calls({"main", "lock"}));
  recorded_.Woke(worker_, 100, 10, 30, ttwu_);
  recorded_.Ran(worker_, 60, recorded_.Calls({"work"}));
  recorded_.Ran(worker_, 90, recorded_.Calls({"unlock"}));
  Walk(10, 5, 100);
  const PathProfile made = ToProfile(timeline_, path_, PathValues::kAtTimes);
  EXPECT_THAT(TimesOf(made.profile),
              UnorderedElementsAre("5-10 main;[runnable]", "10-30 main;[not sampled]",
                                   "30-65 main;main;lock;waits for worker;work",
                                   "65-100 main;main;lock;waits for worker;unlock"));
  EXPECT_EQ(SumsOf(made.profile), SumsOf(ToProfile(timeline_, path_).profile));
}

TEST_F(CriticalPathTest, IsOfTheCgroupOfTheWindowsThread) {
  recorded_.EnterCgroup("/worker");
  recorded_.WaitedForCpu(worker_, 0, 20);
  recorded_.Woke(worker_, 100, 10, 10, ttwu_);
  recorded_.EnterCgroup("/main");
  recorded_.Slept(main_, 10, 100, recorded_.Calls({"main"}));
  Walk(10, 10, 100);
  EXPECT_THAT(CgroupSumsOf(ToProfile(timeline_, path_).profile),
              UnorderedElementsAre(Pair("/main", 90)));
}

TEST_F(CriticalPathTest, NamesWhatRanInstead) {
  const ThreadId other = recorded_.Thread("other", 20, 20);
  recorded_.WaitedForCpu(main_, 0, 100, {}, 1);
  recorded_.Ran(other, 50, recorded_.Calls({"loop"}), 1);
  recorded_.Ran(other, 60, recorded_.Calls({"loop"}), 1);
  recorded_.Ran(other, 70, recorded_.Calls({"loop"}), 0);  // on another CPU
  Walk(10, 0, 100);
  const std::vector<RanInstead> ran = UseOfCpus(timeline_, CpuWaitsOf(path_)).ran;
  ASSERT_EQ(ran.size(), 1U);
  EXPECT_EQ(ran.front().comm, "other");
  EXPECT_EQ(ran.front().ns, 2 * RecordedThreads::kPeriod);
}

TEST_F(CriticalPathTest, TellsTheTimeOfProgramsThatWereNotRecorded) {
  constexpr std::int64_t kPeriod = RecordedThreads::kPeriod;
  recorded_.Ran(main_, 1, {}, 1);
  recorded_.WaitedForCpu(main_, 10, 10 + 50 * kPeriod, {}, 1);
  const ThreadId other = recorded_.Thread("other", 20, 20);
  for (int i = 0; i < 20; ++i) {
    recorded_.Ran(other, 11 + i * kPeriod, recorded_.Calls({"loop"}), 1);
  }
  Walk(10, 0, 10 + 50 * kPeriod);
  const CpuUse use = UseOfCpus(timeline_, CpuWaitsOf(path_));
  EXPECT_EQ(use.waited_ns, 50 * kPeriod);
  EXPECT_EQ(use.not_recorded_ns, 30 * kPeriod);
  EXPECT_EQ(UseOfCpus(timeline_, CpuWaitsOf(timeline_)).not_recorded_ns, 30 * kPeriod);
}

TEST_F(CriticalPathTest, ChanceIsNoOtherProgram) {
  constexpr std::int64_t kPeriod = RecordedThreads::kPeriod;
  recorded_.Ran(main_, 1, {}, 1);
  recorded_.WaitedForCpu(main_, 10, 10 + 50 * kPeriod, {}, 1);
  const ThreadId other = recorded_.Thread("other", 20, 20);
  for (int i = 0; i < 45; ++i) {
    recorded_.Ran(other, 11 + i * kPeriod, recorded_.Calls({"loop"}), 1);
  }
  Walk(10, 0, 10 + 50 * kPeriod);
  EXPECT_EQ(UseOfCpus(timeline_, CpuWaitsOf(path_)).not_recorded_ns, 0);
}

}  // namespace
}  // namespace perftape::timeline
