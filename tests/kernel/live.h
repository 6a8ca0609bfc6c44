// SPDX-License-Identifier: Apache-2.0
// What the tests that record for real share: processes that use up the CPU, and a recording of
// them. Nothing waits for a clock: a process burns an amount of CPU time and ends, and what it left
// in the rings is looked at then.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "record/events/bpf_session.h"
#include "record/events/cpu_events.h"

namespace perftape {

// Skips its tests, with the reason, where nothing can be recorded.
class LiveTest : public testing::Test {
 protected:
  void SetUp() override;
};

// Uses up that much CPU time of the calling thread, in user mode but for a look at the clock each
// millisecond or so.
void Burn(std::int64_t milliseconds);
// The same in the kernel: it reads zeros.
void BurnInKernel(std::int64_t milliseconds);

// Of BurnFromHere's call to Burn: where a frame-pointer walk must lead. 0 before the first call.
std::uint64_t ReturnAddressInCaller();
void BurnFromHere(std::int64_t milliseconds);

// A forked process that does `work` when it is let go, then exits with status 0 (9: an exception).
class Process {
 public:
  explicit Process(const std::function<void()>& work);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  // Ends it, if Finish was never called.

  pid_t pid() const { return pid_; }
  // Lets it go and waits for its end.
  void Finish();

 private:
  pid_t pid_ = -1;
  int go_ = -1;
};

// One sample as it came out of the ring.
struct LiveSample {
  wire_sample fields = {};
  std::vector<std::uint64_t> frames;

  std::vector<std::uint64_t> kernel_frames() const;
  std::vector<std::uint64_t> user_frames() const;
};

inline constexpr std::uint64_t kPeriod = 1'000'000;  // nanoseconds

// Every CPU sampled each millisecond, from its making to Stop. Throws std::runtime_error where it
// cannot be.
class LiveRecording {
 public:
  explicit LiveRecording(const record::BpfOptions& options);

  record::BpfSession& session() { return session_; }
  // Stops the clocks; the samples that are in the ring then.
  std::vector<LiveSample> Stop();
  // Samples that did not get into the ring, on all CPUs together.
  std::uint64_t ring_full();

 private:
  record::BpfSession session_;
  std::vector<record::CpuEvent> events_;
};

// How many of the samples are of that process.
std::size_t CountOf(const std::vector<LiveSample>& samples, pid_t pid);
// The processes that the samples are of, each once, ascending.
std::vector<pid_t> PidsOf(const std::vector<LiveSample>& samples);

}  // namespace perftape
