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

#include "record/bpf/sample_cause.h"

namespace perftape::record {

struct KnownEvent {
  std::string name = {};   // "page-faults"
  std::string alias = {};  // "cs"; may be empty
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  SampleCause cause = SampleCause::kCounter;
  // The kernel counts it only in its own code, which is not sampled without privileges
  // (kernel/sched/core.c).
  bool only_in_kernel = false;
};

// Returns all of them: clocks, other software events, hardware events, caches.
const std::vector<KnownEvent>& KnownEvents();

// Returns the event with this name or alias, or null.
const KnownEvent* FindKnownEvent(std::string_view name);

}  // namespace perftape::record
