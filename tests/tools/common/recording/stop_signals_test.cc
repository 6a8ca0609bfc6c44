// SPDX-License-Identifier: Apache-2.0
#include "tools/common/recording/stop_signals.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <iostream>
#include <mutex>

namespace perftape::recording {
namespace {

// Returns when a stop was requested; CTest limits the time.
void WaitFor(const std::stop_token& token) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait(lock, token, [] { return false; });
}

// A clock that only the test advances.
std::atomic<StopSignals::Clock::duration> passed{};

std::unique_ptr<StopSignals> Catch() {
  auto signals = StopSignals::Catch(
      [](int signal) { std::cerr << "left out by signal " << signal << std::endl; },
      [] { return StopSignals::Clock::time_point(passed.load()); });
  return *std::move(signals);
}

bool IsPending(int number) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, number) == 1;
}

TEST(StopSignals, TreatTheFirstSignalAsARequest) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXFSZ}) {
    const auto signals = Catch();
    ASSERT_FALSE(signals->token().stop_requested());
    kill(getpid(), number);
    WaitFor(signals->token());
    EXPECT_TRUE(signals->token().stop_requested()) << number;
  }
}

TEST(StopSignals, TreatRepetitionsWithinASecondAsOneRequest) {
  const auto signals = Catch();
  kill(getpid(), SIGTERM);
  WaitFor(signals->token());
  for (const int number : {SIGTERM, SIGINT, SIGTERM}) {
    passed = passed.load() + std::chrono::milliseconds(333);
    kill(getpid(), number);
    while (IsPending(number)) std::this_thread::yield();
  }
}

TEST(StopSignals, EndWithoutASignal) {
  const auto signals = Catch();
  ASSERT_TRUE(signals);
}

TEST(StopSignals, LeaveTheSignalsBlockedAfterwards) {
  Catch();
  kill(getpid(), SIGTERM);
  EXPECT_TRUE(IsPending(SIGTERM));
  const auto signals = Catch();  // receives it
  WaitFor(signals->token());
}

void DieOfTheSecondSignal() {
  const auto signals = Catch();
  kill(getpid(), SIGTERM);
  WaitFor(signals->token());
  passed = passed.load() + std::chrono::seconds(1);
  kill(getpid(), SIGTERM);
  while (true) pause();
}

TEST(StopSignalsDeathTest, EndTheProcessAtALaterSignal) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(DieOfTheSecondSignal(), testing::KilledBySignal(SIGTERM), "left out by signal 15");
}

TEST(StopSignals, PassOnSigusr2IfItIsWanted) {
  std::atomic<int> requests = 0;
  const auto signals =
      StopSignals::Catch([](int) {}, &StopSignals::Clock::now, [&] { ++requests; });
  ASSERT_TRUE(signals);
  kill(getpid(), SIGUSR2);
  while (requests.load() == 0) std::this_thread::yield();
  EXPECT_FALSE((*signals)->token().stop_requested());
  kill(getpid(), SIGTERM);
  WaitFor((*signals)->token());
}

}  // namespace
}  // namespace perftape::recording
