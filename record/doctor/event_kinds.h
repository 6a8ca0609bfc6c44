// SPDX-License-Identifier: Apache-2.0
// The kinds of events that a diagnosis checks, each with an event that stands for it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "record/events/event_plan.h"
#include "record/probes/probe_spec.h"

namespace perftape::record {

struct EventKind {
  std::string kind = {};     // "tracepoint"
  std::string example = {};  // for people: "sched:sched_switch", "uprobe:PATH:FUNCTION"
  std::string event = {};    // for -e; empty for a probe of a program
  std::optional<ProbeKind> probe_of_program = {};
};

// Returns all kinds, the default recording's first. The example of hardware events is one that
// `machine` opens, if there is one.
std::vector<EventKind> EventKinds(const EventMachine& machine);

}  // namespace perftape::record
