// SPDX-License-Identifier: Apache-2.0
// The events that need no lookup on the machine, by perf's names
// (tools/perf/util/parse-events.c, event_symbols_sw and event_symbols_hw; evsel.c,
// evsel__hw_cache).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace perftape::record {

// What makes an event overflow, which decides how it is sampled.
enum class Trigger : std::uint8_t {
  kTimer,       // a timer with a fixed period: cpu-clock, task-clock
  kCounter,     // other software events, hardware events
  kTracepoint,  // each hit
  kProbe,       // each hit
  kLock,        // each wait for a lock of the kernel
  kFunction,    // each call of a function of the kernel, or each return (fentry, fexit)
  // The end of each wait of a task that is on no CPU, or for the last one, its wakeup. There is no
  // perf event for them: the kernel's scheduler calls the programs (off_cpu_events).
  kSleep,
  kDiskSleep,
  kRunnable,
  kWakeup,
};

// Whether the event overflows on each CPU. The BPF program of another one runs on all CPUs.
constexpr bool IsPerCpu(Trigger trigger) {
  return trigger == Trigger::kTimer || trigger == Trigger::kCounter;
}

// Whether a wait, or the wakeup that ends it, causes the samples.
constexpr bool IsOffCpu(Trigger trigger) {
  return trigger == Trigger::kSleep || trigger == Trigger::kDiskSleep ||
         trigger == Trigger::kRunnable || trigger == Trigger::kWakeup;
}

// Whether the BPF program is attached to a perf event.
constexpr bool HasPerfEvent(Trigger trigger) {
  return trigger != Trigger::kLock && trigger != Trigger::kFunction && !IsOffCpu(trigger);
}

struct KnownEvent {
  std::string name = {};   // "page-faults"
  std::string alias = {};  // "cs"; may be empty
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  Trigger trigger = Trigger::kCounter;
};

// Returns all of them: clocks, other software events, hardware events, caches.
const std::vector<KnownEvent>& KnownEvents();

// Returns the event with this name or alias, or null.
const KnownEvent* FindKnownEvent(std::string_view name);

}  // namespace perftape::record
