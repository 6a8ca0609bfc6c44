// SPDX-License-Identifier: Apache-2.0
// Latency probes as events of the recording.
#pragma once

#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/events/event_plan.h"
#include "record/events/event_spec.h"

namespace perftape::record {

struct LatencyPlan {
  std::vector<PlannedEvent> events;  // at least one
  std::vector<Error> missing;        // why `machine` cannot record the others
};

// Returns the events of `spec`, whose name is a probe ("latency:read"), a set ("latency:fs"), a
// system call ("latency:syscall=openat") or a glob of probes. Fails with kNotFound if there is no
// such probe, kUnsupported if `machine` can record none of them, and kInvalidArgument for
// modifiers.
Result<LatencyPlan> PlanLatency(const EventSpec& spec, const EventMachine& machine);

}  // namespace perftape::record
