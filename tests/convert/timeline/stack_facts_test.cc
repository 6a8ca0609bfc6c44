// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/stack_facts.h"

#include <gtest/gtest.h>

#include "tests/convert/timeline/recorded_threads.h"

namespace perftape::timeline {
namespace {

using convert::Profile;
using convert::StackId;
using Functions = std::initializer_list<std::string_view>;

bool WaitsForLock(Functions functions) {
  RecordedThreads recorded;
  const StackId stack = recorded.Calls(functions);
  const Profile profile = recorded.Make();
  return StackFacts(profile).WaitsForLock(stack);
}

Waker WakerOf(Functions functions, bool is_idle_thread = false) {
  RecordedThreads recorded;
  const StackId stack = recorded.Calls(functions);
  const Profile profile = recorded.Make();
  return StackFacts(profile).WakerOf(stack, is_idle_thread);
}

TEST(StackFacts, KnowLocksOfLibrariesAndOfTheKernel) {
  EXPECT_TRUE(WaitsForLock({"main", "___pthread_mutex_lock", "k:futex_wait"}));
  EXPECT_TRUE(WaitsForLock({"main", "__lll_lock_wait@GLIBC_PRIVATE", "k:futex_wait"}));
  EXPECT_TRUE(WaitsForLock({"main", "write", "k:vfs_write", "k:__mutex_lock.constprop.0"}));
  EXPECT_FALSE(WaitsForLock({"main", "read", "k:pipe_read"}));
  EXPECT_FALSE(WaitsForLock({"main", "down_write_to_disk", "k:io_schedule"}));
  EXPECT_FALSE(WaitsForLock({}));
}

// pthread_cond_wait has unlocked the mutex.
TEST(StackFacts, KnowThatAConditionIsNoLock) {
  EXPECT_FALSE(WaitsForLock({"with_lock", "___pthread_cond_wait", "k:futex_wait"}));
  EXPECT_TRUE(WaitsForLock({"___pthread_cond_wait", "___pthread_mutex_lock", "k:futex_wait"}));
}

TEST(StackFacts, LookOnlyAtTheInnermostFunctionsOfAProgram) {
  EXPECT_FALSE(WaitsForLock({"std::mutex::lock", "a", "b", "c", "d", "k:futex_wait"}));
}

TEST(StackFacts, KnowTheReasonOfAnInterrupt) {
  EXPECT_EQ(WakerOf({"main", "k:asm_sysvec_apic_timer_interrupt", "k:hrtimer_interrupt",
                     "k:hrtimer_wakeup", "k:try_to_wake_up"}),
            Waker::kTimer);
  EXPECT_EQ(WakerOf({"main", "k:asm_common_interrupt", "k:handle_softirqs", "k:net_rx_action",
                     "k:tcp_v4_rcv", "k:sock_def_readable"}),
            Waker::kNetwork);
  EXPECT_EQ(WakerOf({"k:common_interrupt", "k:nvme_irq", "k:bio_endio"}), Waker::kDisk);
  EXPECT_EQ(WakerOf({"k:el0t_64_irq", "k:some_driver"}), Waker::kInterrupt);
}

TEST(StackFacts, KnowThatASenderOverLoopbackIsTheWaker) {
  EXPECT_EQ(WakerOf({"main", "send", "k:tcp_sendmsg", "k:__local_bh_enable_ip", "k:net_rx_action",
                     "k:sock_def_readable"}),
            Waker::kThread);
}

TEST(StackFacts, KnowThatTheIdleTaskWakesInInterruptsOnly) {
  EXPECT_EQ(WakerOf({"k:do_idle"}, true), Waker::kInterrupt);
  EXPECT_EQ(WakerOf({"k:do_idle", "k:hrtimer_wakeup"}, true), Waker::kTimer);
}

TEST(StackFacts, TakeNoFunctionOfAProgramForOneOfTheKernel) {
  EXPECT_EQ(WakerOf({"common_interrupt", "hrtimer_wakeup"}), Waker::kThread);
}

}  // namespace
}  // namespace perftape::timeline
