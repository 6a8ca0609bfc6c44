// SPDX-License-Identifier: Apache-2.0
#include "record/machine/clock.h"

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "formats/base/duration.h"

namespace perftape::record {
namespace {

std::uint64_t NowNs(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * kNsPerSecond +
         static_cast<std::uint64_t>(now.tv_nsec);
}

class KernelClock : public Clock {
 public:
  std::uint64_t MonotonicNs() override { return record::MonotonicNs(); }
  std::uint64_t RealtimeNs() override { return NowNs(CLOCK_REALTIME); }
  std::uint64_t CpuNs() override { return NowNs(CLOCK_PROCESS_CPUTIME_ID); }

  Result<int> Poll(std::span<pollfd> files, std::chrono::milliseconds timeout) override {
    const int ready = ::poll(files.data(), files.size(), static_cast<int>(timeout.count()));
    if (ready < 0 && errno != EINTR) return FailErrno("poll", errno);
    return ready < 0 ? 0 : ready;
  }
};

}  // namespace

std::uint64_t MonotonicNs() {
  return NowNs(CLOCK_MONOTONIC);
}

Clock& SystemClock() {
  static KernelClock clock;
  return clock;
}

Waited WaitForAnswer(Clock& clock, int file, std::chrono::milliseconds timeout) {
  constexpr std::chrono::milliseconds kSlice{20};
  constexpr std::uint64_t kSliceNs = std::chrono::nanoseconds(kSlice).count();
  const auto most_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(timeout).count());
  Waited waited;
  while (waited.ns < most_ns) {
    const std::uint64_t before_ns = clock.MonotonicNs();
    pollfd wait = {.fd = file, .events = POLLIN, .revents = 0};
    const Result<int> ready = clock.Poll({&wait, 1}, kSlice);
    waited.ns += std::min(clock.MonotonicNs() - before_ns, kSliceNs);
    waited.is_ready = ready && *ready > 0;
    if (!ready || waited.is_ready) break;
  }
  return waited;
}

}  // namespace perftape::record
