// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/wall_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <string>

#include "convert/timeline/new_profile.h"
#include "tests/convert/timeline/recorded_threads.h"
#include "tests/convert/timeline/stack_sums.h"

namespace perftape::timeline {
namespace {

using convert::Profile;
using convert::ThreadId;
using testing::ElementsAre;
using testing::Pair;
using testing::UnorderedElementsAre;

class WallClockTest : public testing::Test {
 protected:
  WallClock Make(const WallClockOptions& options = {}) {
    profile_ = recorded_.Make();
    timeline_ = Timeline::Build(profile_, {});
    return MakeWallClock(timeline_, options);
  }

  RecordedThreads recorded_;
  ThreadId main_ = recorded_.Thread("main", 10, 10);
  Profile profile_;
  Timeline timeline_;
};

TEST_F(WallClockTest, DividesTheLifeOfAThread) {
  recorded_.Slept(main_, 0, 100, recorded_.Calls({"main", "wait"}));
  recorded_.WaitedForCpu(main_, 100, 130, recorded_.Calls({"main", "wait"}));
  recorded_.Ran(main_, 150, recorded_.Calls({"main", "work"}));
  recorded_.Ran(main_, 160, recorded_.Calls({"main", "work"}));
  recorded_.Ran(main_, 170, recorded_.Calls({"main", "other"}));
  recorded_.SleptShortly(main_, 230, 10);
  const WallClock wall = Make();
  EXPECT_THAT(SumsOf(wall.profile), UnorderedElementsAre(Pair("main;[sleep];main;wait", 100),
                                                         Pair("main;[runnable];main;wait", 30),
                                                         Pair("main;[running];main;work", 60),
                                                         Pair("main;[running];main;other", 30),
                                                         Pair("main;[short waits]", 10)));
  EXPECT_EQ(TotalOf(wall.profile), timeline_.threads().front().life().length());
  EXPECT_EQ(wall.threads, 1U);
}

TEST_F(WallClockTest, SaysWhenIfAsked) {
  recorded_.Slept(main_, 10, 100, recorded_.Calls({"main", "wait"}));
  recorded_.Ran(main_, 120, recorded_.Calls({"main", "work"}));
  recorded_.Ran(main_, 170, recorded_.Calls({"main", "other"}));
  recorded_.WaitedForCpu(main_, 130, 150);
  recorded_.WaitedForCpu(main_, 180, 200);
  const WallClock wall = Make({.with_times = true});
  EXPECT_THAT(TimesOf(wall.profile),
              UnorderedElementsAre("10-100 main;[sleep];main;wait",
                                   "100-130 main;[running];main;work", "130-150 main;[runnable]",
                                   "150-180 main;[running];main;other", "180-200 main;[runnable]"));
  EXPECT_EQ(SumsOf(wall.profile), SumsOf(MakeWallClock(timeline_, {}).profile));
}

// What is known only of the thread is of its last cgroup.
TEST_F(WallClockTest, DividesTheLifeByCgroups) {
  recorded_.EnterCgroup("/start");
  recorded_.WaitedForCpu(main_, 0, 10);
  recorded_.Slept(main_, 10, 40, recorded_.Calls({"main", "wait"}));
  recorded_.EnterCgroup("/service");
  recorded_.Ran(main_, 60, recorded_.Calls({"main", "work"}));
  recorded_.SleptShortly(main_, 140, 10);
  EXPECT_THAT(CgroupSumsOf(Make().profile),
              UnorderedElementsAre(Pair("/start", 40), Pair("/service", 100)));
}

TEST_F(WallClockTest, SaysThatNoSampleWasTaken) {
  recorded_.WaitedForCpu(main_, 0, 10);
  recorded_.WaitedForCpu(main_, 15, 20);
  EXPECT_THAT(SumsOf(Make().profile), UnorderedElementsAre(Pair("main;[running];[not sampled]", 5),
                                                           Pair("main;[runnable]", 15)));
}

TEST_F(WallClockTest, LeavesOutThreadsThatOnlyWaitInOnePlace) {
  recorded_.Ran(main_, 100, recorded_.Calls({"main"}));
  recorded_.WaitedForCpu(main_, 100, 200);
  const ThreadId pool = recorded_.Thread("pool", 10, 11);
  recorded_.Slept(pool, 0, 150, recorded_.Calls({"worker", "wait"}));
  recorded_.Slept(pool, 150, 200, recorded_.Calls({"worker", "wait"}));
  const ThreadId busy = recorded_.Thread("busy", 10, 12);
  recorded_.Slept(busy, 0, 150, recorded_.Calls({"worker", "wait"}));
  recorded_.Slept(busy, 150, 200, recorded_.Calls({"worker", "read"}));
  const WallClock wall = Make();
  EXPECT_EQ(wall.threads, 2U);
  EXPECT_EQ(wall.idle_threads, 1U);
  const WallClock all = MakeWallClock(timeline_, {.with_idle_threads = true});
  EXPECT_EQ(all.threads, 3U);
  EXPECT_EQ(TotalOf(all.profile) - TotalOf(wall.profile), 200);
}

TEST(Divide, LosesNothing) {
  EXPECT_THAT(Divide(100, {1, 1, 1}), ElementsAre(33, 33, 34));
  EXPECT_THAT(Divide(100, {0, 0}), ElementsAre(50, 50));
  EXPECT_THAT(Divide(7, {0, 5, 0}), ElementsAre(0, 7, 0));
  constexpr std::int64_t kLarge = std::int64_t{1} << 62;
  EXPECT_THAT(Divide(kLarge, {kLarge, kLarge}), ElementsAre(kLarge / 2, kLarge / 2));
}

}  // namespace
}  // namespace perftape::timeline
