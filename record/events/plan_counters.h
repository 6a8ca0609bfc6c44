// SPDX-License-Identifier: Apache-2.0
// Events that the kernel counts on each CPU: clocks, software and hardware events, caches, rNNN,
// breakpoints, and the events of the PMUs of sysfs.
#pragma once

#include <vector>

#include "formats/base/result.h"
#include "record/events/event_plan.h"

namespace perftape::record {

// Returns the event, or one for each PMU that `spec` means: those of the kinds of cores on a hybrid
// machine, or the numbered ones of a kind. Empty if no event has this name.
//
// Fails with kInvalidArgument for an option or a term that the event does not have, and with the
// errors of Pmus. Fails with kUnsupported for an event that the kernel does not open.
Result<std::vector<PlannedEvent>> PlanCounters(const EventSpec& spec, SamplingRate rate,
                                               const EventMachine& machine);

}  // namespace perftape::record
