// SPDX-License-Identifier: Apache-2.0
// Events that perf does not have, as events of the recording: those with BPF programs of their own,
// and the waits of threads.
#pragma once

#include <span>
#include <vector>

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

// Returns the events of `spec`, whose name is one of OffCpuNames: for "offcpu", an event for each
// state of the waiting thread, because perf report sorts by event. Fails with kInvalidArgument if
// the event has modifiers or options.
Result<std::vector<PlannedEvent>> PlanOffCpu(const EventSpec& spec);

// Fails with kInvalidArgument if there are wakeups without the waits that they end.
Status CheckWakeup(std::span<const PlannedEvent> events);

}  // namespace perftape::record
