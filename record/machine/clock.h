// SPDX-License-Identifier: Apache-2.0
// The clocks of a recording, and its pauses. The clock of all records is CLOCK_MONOTONIC, which
// bpf_ktime_get_ns() and both events read.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <span>

#include "formats/base/result.h"

namespace perftape::record {

// Returns the current time of CLOCK_MONOTONIC in nanoseconds.
std::uint64_t MonotonicNs();

// Unit tests replace it.
class Clock {
 public:
  virtual ~Clock() = default;

  // CLOCK_MONOTONIC.
  virtual std::uint64_t MonotonicNs() = 0;
  // The time since 1970.
  virtual std::uint64_t RealtimeNs() = 0;
  // The CPU time of all threads of this process.
  virtual std::uint64_t CpuNs() = 0;
  // As poll(2), whose result it returns; 0 after a signal.
  virtual Result<int> Poll(std::span<pollfd> files, std::chrono::milliseconds timeout) = 0;
};

// The clocks of the kernel.
Clock& SystemClock();

// Waits until the file can be read. Time during which this process did not run does not count,
// whether it was stopped (SIGSTOP, a frozen cgroup) or had no CPU: the process that should answer
// may be in the same state.
struct Waited {
  bool is_ready = false;
  std::uint64_t ns = 0;  // that count
};
Waited WaitForAnswer(Clock& clock, int file, std::chrono::milliseconds timeout);

}  // namespace perftape::record
