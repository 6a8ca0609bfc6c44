// SPDX-License-Identifier: Apache-2.0
// An event with BPF programs of its own as an event of the recording.
#pragma once

#include "formats/base/result.h"
#include "record/bpf/program_events.h"
#include "record/events/event_plan.h"
#include "record/events/event_spec.h"
#include "record/events/tracefs.h"

namespace perftape::record {

// Returns the one event of `program`. It has the options of a tracepoint, except if=. Returns the
// errors of PlanEvents; kNotFound if the kernel does not have its tracepoints.
Result<PlannedEvent> PlanProgram(const EventSpec& spec, const ProgramEvent& program,
                                 const Tracefs& tracefs);

}  // namespace perftape::record
