// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/switch_records.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "convert/model/sample_thread.h"
#include "tests/convert/timeline/recorded_threads.h"

namespace perftape::timeline {
namespace {

using convert::ThreadSwitch;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Span kTime = {.start = 10, .end = 100};

ThreadSwitch Arrives(std::int64_t time_ns, std::uint32_t tid = 7) {
  return {.time_ns = time_ns, .pid = 7, .tid = tid, .is_in = true};
}

ThreadSwitch Leaves(std::int64_t time_ns, std::uint32_t tid = 7) {
  return {.time_ns = time_ns, .pid = 7, .tid = tid};
}

ThreadSwitch IsPreempted(std::int64_t time_ns) {
  ThreadSwitch made = Leaves(time_ns);
  made.is_preempted = true;
  return made;
}

std::string TextOf(const Interval& one) {
  return fmt::format("{}-{} {}", one.time.start, one.time.end, NameOf(one.state));
}

std::vector<std::string> Waits(const std::vector<ThreadSwitch>& switches) {
  std::vector<std::string> texts;
  for (const Switches::Wait& wait : WaitsOf(switches, kTime)) {
    texts.push_back(fmt::format("{}/{} {}", wait.pid, wait.tid, TextOf(wait.interval)));
  }
  return texts;
}

TEST(SwitchRecords, AreWaitsFromTheSwitchAwayToTheSwitchBack) {
  EXPECT_THAT(Waits({Leaves(20), Arrives(30), IsPreempted(40), Arrives(45), Leaves(90)}),
              ElementsAre("7/7 20-30 sleep", "7/7 40-45 runnable", "7/7 90-100 sleep"));
}

TEST(SwitchRecords, TellNothingBeforeTheFirstSwitchToAThread) {
  EXPECT_THAT(Waits({Arrives(30)}), ElementsAre("7/7 10-30 not recorded"));
}

TEST(SwitchRecords, MayHaveLostTheSwitchBack) {
  EXPECT_THAT(Waits({Leaves(20), Leaves(50), Arrives(60)}),
              ElementsAre("7/7 20-50 not recorded", "7/7 50-60 sleep"));
}

TEST(SwitchRecords, AreSortedByTimeAndToldApartByThread) {
  EXPECT_THAT(Waits({Arrives(50, 8), Arrives(30), Leaves(40, 8), Leaves(20)}),
              ElementsAre("7/7 20-30 sleep", "7/8 40-50 sleep"));
}

TEST(SwitchRecords, OfIdleCpusAndEndedThreadsAreNoWaits) {
  EXPECT_THAT(Waits({Leaves(20, 0), Arrives(30, 0), Leaves(20, convert::kUnknownId)}), IsEmpty());
}

TEST(SwitchRecords, AreClippedToTheTime) {
  EXPECT_THAT(Waits({Leaves(5), Arrives(15), Leaves(95), Arrives(120)}),
              ElementsAre("7/7 10-15 sleep", "7/7 95-100 sleep"));
}

class TimelineOfSwitches : public testing::Test {
 protected:
  // The states of the thread 7.
  std::vector<std::string> States(const std::vector<ThreadSwitch>& switches) {
    profile_ = recorded_.Make();
    timeline_ = Timeline::Build(profile_, {.switches = switches});
    std::vector<std::string> texts;
    for (const ThreadLine& line : timeline_.threads()) {
      if (line.tid != 7) continue;
      for (const Interval& one : line.intervals) texts.push_back(TextOf(one));
    }
    return texts;
  }

  RecordedThreads recorded_;
  convert::ThreadId main_ = recorded_.Thread("main", 7, 7);
  convert::Profile profile_;
  Timeline timeline_;
};

TEST_F(TimelineOfSwitches, HasTheirWaits) {
  recorded_.Ran(main_, 10, recorded_.Calls({"main"}));
  recorded_.Ran(main_, 100, recorded_.Calls({"main"}));
  EXPECT_THAT(States({Leaves(20), Arrives(30), Leaves(40, 8)}),
              ElementsAre("10-20 running", "20-30 sleep", "30-100 running"));
  EXPECT_TRUE(timeline_.recorded().has_all_waits());
  EXPECT_EQ(timeline_.threads().size(), 1U);  // 8 has no samples
}

TEST_F(TimelineOfSwitches, HasWaitsWithStacksInstead) {
  recorded_.Ran(main_, 10, recorded_.Calls({"main"}));
  recorded_.Slept(main_, 50, 60, recorded_.Calls({"main", "nap"}));
  recorded_.Ran(main_, 100, recorded_.Calls({"main"}));
  const std::vector<std::string> states = States({Leaves(20), Arrives(30)});
  EXPECT_THAT(states, testing::Contains("50-60 sleep"));
  EXPECT_THAT(states, testing::Not(testing::Contains("20-30 sleep")));
}

}  // namespace
}  // namespace perftape::timeline
