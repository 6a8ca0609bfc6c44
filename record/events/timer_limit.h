// SPDX-License-Identifier: Apache-2.0
// Limits the rate of sampling timers to what a CPU can handle. If the interrupt of a timer takes
// longer than its period, it expires again at once, and nothing else runs on its CPU. The kernel
// limits the interrupts of hardware counters by their cost (perf_sample_event_took), but not those
// of timers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "record/events/event_plan.h"

namespace perftape::record {

// Every machine can handle rates that add up to this, in samples per second on each CPU.
inline constexpr std::uint64_t kCarriedRate = 20'000;

// Lowers the rates of the clocks among `events` together, so that their interrupts take at most
// half of each CPU. `interrupt_ns` returns the time of one interrupt; it is called only above
// kCarriedRate. The attributes have the lower rates, so the recording says what was sampled.
// Returns a warning if a rate changed.
std::optional<std::string> LimitTimers(std::span<PlannedEvent> events,
                                       const std::function<std::uint64_t()>& interrupt_ns);

// Measures how long the interrupt of a timer keeps this thread from running, in ns, without what a
// BPF program adds. Takes some milliseconds. Returns a usual value if it cannot be measured.
std::uint64_t MeasureTimerInterrupt();

}  // namespace perftape::record
