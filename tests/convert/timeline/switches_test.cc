// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/switches.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/convert/timeline/recorded_threads.h"

namespace perftape::timeline {
namespace {

using convert::Profile;
using convert::TaskEvent;
using convert::ThreadId;
using testing::ElementsAre;

constexpr std::int64_t kPreempted = 0x100, kSleeping = 1, kUninterruptible = 2;

class SwitchesTest : public testing::Test {
 protected:
  void Switch(ThreadId from, std::int64_t at, std::int64_t state, std::int64_t to) {
    recorded_.Hit(from, kSwitchEvent, at,
                  {recorded_.Number("prev_state", state), recorded_.Number("next_pid", to)});
  }
  void Wake(ThreadId waker, std::int64_t at, std::int64_t woken) {
    recorded_.Hit(waker, kWakingEvent, at, {recorded_.Number("field:pid", woken)});
  }
  // The states of the thread with this tid.
  std::vector<std::string> States(std::uint32_t tid, const TimelineOptions& options = {}) {
    profile_ = recorded_.Make();
    timeline_ = Timeline::Build(profile_, options);
    const std::uint32_t found = timeline_.Find(10, tid);
    std::vector<std::string> texts;
    if (found == kNone) return texts;
    for (const Interval& one : timeline_.threads()[found].intervals) {
      texts.push_back(fmt::format("{}-{} {}", one.time.start, one.time.end, NameOf(one.state)));
    }
    return texts;
  }

  RecordedThreads recorded_;
  ThreadId main_ = recorded_.Thread("main", 10, 10);
  ThreadId worker_ = recorded_.Thread("worker", 10, 11);
  ThreadId idle_ = recorded_.Thread("swapper", 0, 0);
  Profile profile_;
  Timeline timeline_;
};

TEST_F(SwitchesTest, AreWaitsUpToTheSwitchBack) {
  recorded_.Ran(main_, 50, recorded_.Calls({"main"}));
  Switch(main_, 100, kSleeping, 0);
  Wake(worker_, 180, 10);
  Switch(idle_, 200, 0, 10);
  Switch(main_, 250, kPreempted, 11);
  Switch(worker_, 300, kUninterruptible, 10);
  Switch(main_, 310, kUninterruptible, 0);
  Switch(idle_, 320, 0, 10);
  recorded_.Ran(main_, 400, recorded_.Calls({"main"}));
  EXPECT_THAT(States(10), ElementsAre("50-100 running", "100-180 sleep", "180-200 runnable",
                                      "200-250 running", "250-300 runnable", "300-310 running",
                                      "310-320 disk", "320-400 running"));
  const ThreadLine& line = timeline_.threads()[timeline_.Find(10, 10)];
  ASSERT_EQ(line.wakeups.size(), 1U);
  EXPECT_EQ(line.wakeups.front().start_ns, 100);
}

TEST_F(SwitchesTest, TellNothingBeforeTheFirstSwitchToAThread) {
  recorded_.Ran(main_, 50, recorded_.Calls({"main"}));
  Switch(idle_, 200, 0, 11);
  recorded_.Ran(worker_, 250, recorded_.Calls({"work"}));
  Switch(worker_, 300, kSleeping, 0);
  recorded_.Ran(main_, 400, recorded_.Calls({"main"}));
  EXPECT_THAT(States(11), ElementsAre("50-200 not recorded", "200-300 running", "300-400 sleep"));
}

TEST_F(SwitchesTest, HaveANewThreadWaitForItsFirstCpu) {
  recorded_.Ran(main_, 50, recorded_.Calls({"main"}));
  Switch(idle_, 200, 0, 11);
  recorded_.Ran(worker_, 250, recorded_.Calls({"work"}));
  Switch(worker_, 300, kSleeping, 0);
  EXPECT_THAT(
      States(11,
             {.events = {{.type = TaskEvent::Type::kFork, .time_ns = 150, .pid = 10, .tid = 11}}}),
      ElementsAre("150-200 runnable", "200-300 running"));
}

// perf record of one program has no samples of the switches to it.
TEST_F(SwitchesTest, TellNothingAfterASwitchWithoutAReturn) {
  Switch(main_, 100, kSleeping, 0);
  Switch(main_, 300, kSleeping, 0);
  recorded_.Ran(main_, 400, recorded_.Calls({"main"}));
  EXPECT_THAT(States(10), ElementsAre("100-300 not recorded", "300-400 sleep"));
}

}  // namespace
}  // namespace perftape::timeline
