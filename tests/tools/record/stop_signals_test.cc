// SPDX-License-Identifier: Apache-2.0
#include "tools/record/stop_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <condition_variable>
#include <mutex>

namespace perftape::record_tool {
namespace {

// Returns when a stop was requested; the test's time limit is that of CTest.
void WaitFor(const std::stop_token& token) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait(lock, token, [] { return false; });
}

TEST(StopSignals, TakeTheFirstSignalForARequest) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const auto signals = StopSignals::Catch();
    ASSERT_TRUE(signals);
    ASSERT_FALSE((*signals)->token().stop_requested());
    kill(getpid(), number);
    WaitFor((*signals)->token());
    EXPECT_TRUE((*signals)->token().stop_requested()) << number;
  }
}

TEST(StopSignals, EndWithoutASignal) {
  const auto signals = StopSignals::Catch();
  ASSERT_TRUE(signals);
}

TEST(StopSignals, UnblockTheSignalsWhenTheyGo) {
  { const auto signals = StopSignals::Catch(); }
  sigset_t blocked;
  pthread_sigmask(SIG_BLOCK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGINT), 0);
}

void DieOfTheSecondSignal() {
  const auto signals = StopSignals::Catch();
  kill(getpid(), SIGTERM);
  WaitFor((*signals)->token());
  kill(getpid(), SIGTERM);
  while (true) pause();
}

TEST(StopSignalsDeathTest, LetASecondSignalEndTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(DieOfTheSecondSignal(), testing::KilledBySignal(SIGTERM), "");
}

}  // namespace
}  // namespace perftape::record_tool
