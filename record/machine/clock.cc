// SPDX-License-Identifier: Apache-2.0
#include "record/machine/clock.h"

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

}  // namespace perftape::record
