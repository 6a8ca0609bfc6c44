// SPDX-License-Identifier: Apache-2.0
// The names for -e that need no lookup on the machine: those of perf (kernel_events.h, and
// tools/perf/util/evsel.c, evsel__hw_cache), and those that perf does not have: sets of events, and
// the waits of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/bpf/program_events.h"
#include "record/bpf/sample_cause.h"

namespace perftape::record {

struct KnownEvent {
  std::string name = {};   // "page-faults"
  std::string alias = {};  // "cs"; may be empty
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  SampleCause cause = SampleCause::kCounter;
  // The kernel counts it only in its own code, which is not sampled without privileges.
  bool only_in_kernel = false;
};

// Returns all of perf's: clocks, other software events, hardware events, caches.
const std::vector<KnownEvent>& KnownEvents();

// Returns the event with this name or alias, or none. Also finds dummy, and all names of the events
// of caches (cache_events.h), which is the name of the returned event then.
std::optional<KnownEvent> FindKnownEvent(std::string_view name);

// Events that together answer a question, under one name.
struct EventSet {
  std::string_view name;
  std::string_view meaning;  // of one sample, for the list
  std::string_view events;   // in the syntax of ParseEvents
  // If not null, the events are not recorded themselves: the set is what these programs compute
  // from them.
  const ProgramEvent* program = nullptr;
};

// Returns all sets. Each event with programs of its own is one.
std::span<const EventSet> EventSets();

// Returns the set with this name, or null.
const EventSet* FindEventSet(std::string_view name);

// Waits of threads, and what ends them.
inline constexpr std::string_view kOffCpu = "offcpu", kWakers = "wakeup";

// The events from which a critical path is computed, in the syntax of ParseEvents: which threads
// ran, which waited, and which ended the wait.
inline constexpr std::string_view kCriticalPathEvents = "cpu-clock,offcpu,wakeup";

struct OffCpuName {
  std::string_view name;
  std::string_view meaning;  // with the unit
};

std::span<const OffCpuName> OffCpuNames();
bool IsOffCpuName(std::string_view name);

}  // namespace perftape::record
