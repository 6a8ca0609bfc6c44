// SPDX-License-Identifier: Apache-2.0
// Starts a recording without its output, to find out whether it would start.
#pragma once

#include <span>

#include "formats/base/result.h"
#include "record/events/event_plan.h"
#include "record/events/probe_events.h"

namespace perftape::record {

// Does what the recorder does with these events before the first sample, for the whole system:
// loads and attaches the BPF programs, opens the perf events, maps the rings; then closes all. Only
// samples of the calling thread can arrive meanwhile, and they are dropped. Fails with the error
// that the recorder would print.
Status RehearseRecording(std::span<const PlannedEvent> events);

// Returns the location of a function of this process for a probe of this kind, which must be one of
// programs. Nothing else executes it. Fails if /proc/self/maps cannot be read.
Result<ProbeLocation> OwnFunction(ProbeKind kind);

}  // namespace perftape::record
