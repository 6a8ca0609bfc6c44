// SPDX-License-Identifier: Apache-2.0
// The off-CPU events: the names that users write, and the events that the file gets.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/events/event_plan.h"
#include "record/events/event_spec.h"
#include "record/events/known_events.h"

namespace perftape::record {

// The names for -e: waits, and what ends them.
inline constexpr std::string_view kOffCpu = "offcpu", kWakers = "wakeup";

struct OffCpuName {
  std::string_view name;
  std::string_view meaning;  // with the unit
};

std::span<const OffCpuName> OffCpuNames();
bool IsOffCpuName(std::string_view name);

// Returns the events of `spec`, whose name is one of OffCpuNames: for "offcpu", an event for each
// state of the waiting thread, because perf report sorts by event. Fails with kInvalidArgument if
// the event has modifiers or options.
Result<std::vector<PlannedEvent>> PlanOffCpu(const EventSpec& spec);

// Fails with kInvalidArgument if there are wakeups without the waits that they end.
Status CheckWakeup(std::span<const PlannedEvent> events);

}  // namespace perftape::record
