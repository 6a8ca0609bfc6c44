// SPDX-License-Identifier: Apache-2.0
// All events that can be recorded, and whether they work on this machine.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "record/events/event_plan.h"

namespace perftape::record {

struct ListedEvent {
  std::string name;    // "sched:sched_switch"
  std::string alias;   // may be empty
  std::string kind;    // "tracepoint"
  std::string reason;  // why it does not work here; empty: it works
};

// Returns the events whose name or alias matches `glob`. A word without *, ? and [ matches every
// name that contains it. Without tracefs, one entry says why there are no tracepoints. If `glob` is
// a probe (probe_spec.h), returns the matching probes of the program, library or kernel, with the
// errors of PlanProbes.
Result<std::vector<ListedEvent>> ListEvents(std::string_view glob, const EventMachine& machine);

}  // namespace perftape::record
