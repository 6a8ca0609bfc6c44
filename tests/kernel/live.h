// SPDX-License-Identifier: Apache-2.0
// Shared by the tests that record: processes that use CPU time, and a recording of them. Nothing
// waits for a clock: a process burns an amount of CPU time and ends, and then the rings are read.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "record/bpf/bpf_session.h"
#include "record/rings/cpu_events.h"

namespace perftape {

// Skips its tests, with the reason, if this machine cannot record.
class LiveTest : public testing::Test {
 protected:
  void SetUp() override;
};

// Keeps the calling thread, and what it forks from now on, on this CPU.
void PinTo(int cpu);

// Uses this much CPU time of the calling thread, in user mode, except for reading the clock about
// every millisecond.
void Burn(std::int64_t milliseconds);
// Does the same in the kernel: reads zeros.
void BurnInKernel(std::int64_t milliseconds);

// The return address of the call to Burn in BurnFromHere, which a frame-pointer walk must find. 0
// before the first call.
std::uint64_t ReturnAddressInCaller();
void BurnFromHere(std::int64_t milliseconds);

// A forked process that waits, does `work` and exits with status 0 (9: an exception).
class Process {
 public:
  explicit Process(const std::function<void()>& work);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  // kills it if Finish was not called

  pid_t pid() const { return pid_; }
  // Releases it and waits for its end.
  void Finish();

 private:
  pid_t pid_ = -1;
  int go_ = -1;
};

// A sample from the ring.
struct LiveSample {
  wire_sample fields = {};
  std::vector<std::uint64_t> frames;

  std::vector<std::uint64_t> kernel_frames() const;
  std::vector<std::uint64_t> user_frames() const;
};

inline constexpr std::uint64_t kPeriod = 1'000'000;  // nanoseconds

// Samples every CPU each millisecond from construction until Stop. Throws std::runtime_error if it
// cannot record.
class LiveRecording {
 public:
  explicit LiveRecording(const record::BpfOptions& options);

  record::BpfSession& session() { return session_; }
  // Stops the timers; returns the samples in the rings.
  std::vector<LiveSample> Stop();
  // The number of samples that did not fit into the rings, on all CPUs together.
  std::uint64_t ring_full();

 private:
  record::BpfSession session_;
  std::vector<record::CpuEvent> events_;
};

// Returns the number of samples of this process.
std::size_t CountOf(const std::vector<LiveSample>& samples, pid_t pid);
// Returns the processes of the samples, sorted, without duplicates.
std::vector<pid_t> PidsOf(const std::vector<LiveSample>& samples);

}  // namespace perftape
