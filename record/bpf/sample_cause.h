// SPDX-License-Identifier: Apache-2.0
// The causes of samples.
#pragma once

#include <cstdint>

namespace perftape::record {

// What makes an event overflow, which decides how it is sampled.
enum class SampleCause : std::uint8_t {
  kTimer,       // a timer with a fixed period: cpu-clock, task-clock
  kCounter,     // other software events, hardware events
  kTracepoint,  // each hit
  kProbe,       // each hit
  kFunction,    // each call of a function of the kernel, or each return (fentry, fexit)
  kOwnProgram,  // what the programs of the event decide (program_events)
  // The end of each wait of a task that is on no CPU; for kWakeup, the wakeup that ends it. There
  // is no perf event for them: the kernel's scheduler calls the programs (off_cpu_programs).
  kSleep,
  kDiskSleep,
  kRunnable,
  kWakeup,
  kLatency,  // the end of a call that was slow or failed (latency_programs)
};

// Whether the event overflows on each CPU. The BPF program of any other event runs on all CPUs.
constexpr bool IsPerCpu(SampleCause cause) {
  return cause == SampleCause::kTimer || cause == SampleCause::kCounter;
}

// Whether a wait, or the wakeup that ends it, causes the samples.
constexpr bool IsOffCpu(SampleCause cause) {
  return cause == SampleCause::kSleep || cause == SampleCause::kDiskSleep ||
         cause == SampleCause::kRunnable || cause == SampleCause::kWakeup;
}

// Whether the BPF program is attached to a perf event.
constexpr bool HasPerfEvent(SampleCause cause) {
  return cause != SampleCause::kFunction && cause != SampleCause::kOwnProgram &&
         cause != SampleCause::kLatency && !IsOffCpu(cause);
}

}  // namespace perftape::record
