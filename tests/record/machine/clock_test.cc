// SPDX-License-Identifier: Apache-2.0
#include "record/machine/clock.h"

#include <gtest/gtest.h>

#include <optional>

namespace perftape::record {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kSecond = 1'000'000'000;

// Its process is stopped for a time in one of the polls, and the answer comes after so many.
class StoppedClock : public Clock {
 public:
  StoppedClock(std::optional<int> stopped_in, std::optional<int> answered_in)
      : stopped_in_(stopped_in), answered_in_(answered_in) {}

  std::uint64_t MonotonicNs() override { return now_ns_; }
  std::uint64_t RealtimeNs() override { return now_ns_; }
  std::uint64_t CpuNs() override { return 0; }
  Result<int> Poll(std::span<pollfd> /*files*/, milliseconds timeout) override {
    const int poll = polls_++;
    now_ns_ += static_cast<std::uint64_t>(std::chrono::nanoseconds(timeout).count());
    if (stopped_in_ == poll) now_ns_ += 1000 * kSecond;
    return answered_in_ == poll ? 1 : 0;
  }

 private:
  std::uint64_t now_ns_ = 5 * kSecond;
  int polls_ = 0;
  const std::optional<int> stopped_in_, answered_in_;
};

TEST(WaitForAnswer, EndsAfterTheTimeWithoutAnAnswer) {
  StoppedClock clock({}, {});
  const Waited waited = WaitForAnswer(clock, 0, milliseconds(1000));
  EXPECT_FALSE(waited.is_ready);
  EXPECT_EQ(waited.ns, kSecond);
}

TEST(WaitForAnswer, DoesNotCountTheTimeInWhichTheProcessWasStopped) {
  StoppedClock clock(3, 10);
  const Waited waited = WaitForAnswer(clock, 0, milliseconds(1000));
  EXPECT_TRUE(waited.is_ready);
  EXPECT_LT(waited.ns, kSecond);
}

TEST(WaitForAnswer, AStopDoesNotMakeItWaitForLonger) {
  StoppedClock clock(3, {});
  EXPECT_EQ(WaitForAnswer(clock, 0, milliseconds(1000)).ns, kSecond);
}

}  // namespace
}  // namespace perftape::record
