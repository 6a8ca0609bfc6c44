// SPDX-License-Identifier: Apache-2.0
// Probes of programs, libraries and the kernel as events of the recording.
#pragma once

#include <string>
#include <vector>

#include "formats/base/result.h"
#include "record/events/event_plan.h"
#include "record/events/event_spec.h"

namespace perftape::record {

// The kernel takes some 0.1 s to remove each of them.
inline constexpr std::size_t kMostProbes = 200;

// Returns the probe that `spec` names, or all that match its glob, sorted by name. Returns the
// errors of PlanEvents.
Result<std::vector<PlannedEvent>> PlanProbes(const EventSpec& spec, const EventMachine& machine);

// Returns the names of all probes that match, such as "usdt:libc:libc:*". A function without *, ?
// and [ matches every name that contains it. The errors are those of PlanProbes.
Result<std::vector<std::string>> MatchingProbes(const EventSpec& spec, const EventMachine& machine);

}  // namespace perftape::record
