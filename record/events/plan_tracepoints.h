// SPDX-License-Identifier: Apache-2.0
// Tracepoints of the running kernel as events of the recording.
#pragma once

#include <vector>

#include "formats/base/result.h"
#include "record/events/event_plan.h"
#include "record/events/event_spec.h"
#include "record/events/tracefs.h"

namespace perftape::record {

// Returns the tracepoint that `spec` names, or all that match its glob, sorted by name. Fails as
// PlanEvents does.
Result<std::vector<PlannedEvent>> PlanTracepoints(const EventSpec& spec, const Tracefs& tracefs);

}  // namespace perftape::record
