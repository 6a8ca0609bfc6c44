// SPDX-License-Identifier: Apache-2.0
// The feature TRACING_DATA: the formats of the tracepoints of a recording, from tracefs. perf opens
// no file with a tracepoint without it.
#pragma once

#include <span>

#include "formats/base/result.h"
#include "formats/perfdata/features.h"
#include "record/events/event_plan.h"
#include "record/events/tracefs.h"

namespace perftape::record {

// Returns the formats of the tracepoints in `sampling`, without kallsyms and the other parts that
// perf can leave empty. Fails if tracefs cannot be read.
Result<perfdata::TracingData> TracingDataOf(std::span<const PlannedEvent> sampling,
                                            const Tracefs& tracefs);

}  // namespace perftape::record
