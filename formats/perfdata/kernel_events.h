// SPDX-License-Identifier: Apache-2.0
// The events that the kernel numbers itself: enum perf_sw_ids and enum perf_hw_id of
// include/uapi/linux/perf_event.h, with perf's names (tools/perf/util/parse-events.c,
// event_symbols_sw and event_symbols_hw).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace perftape::perfdata {

struct KernelEvent {
  std::string_view name;   // "context-switches"
  std::string_view alias;  // "cs"; may be empty
  std::uint32_t type = 0;  // kTypeSoftware or kTypeHardware
  std::uint64_t config = 0;
  // The kernel counts it only in its own code (kernel/sched/core.c).
  bool only_in_kernel = false;
};

// Returns all of them: software events, then hardware events, by their numbers.
std::span<const KernelEvent> KernelEvents();

// Whether something can be counted as this event. Nothing is counted as "dummy" or "bpf-output".
bool IsCounted(const KernelEvent& event);

// Returns the event with this name or alias, or null. Modifiers are part of no name.
const KernelEvent* FindKernelEvent(std::string_view name);

// Returns the event with this number, or null.
const KernelEvent* FindKernelEvent(std::uint32_t type, std::uint64_t config);

}  // namespace perftape::perfdata
