// SPDX-License-Identifier: Apache-2.0
// Waits for locks of the kernel as an event of the recording.
#pragma once

#include "formats/base/result.h"
#include "record/events/event_plan.h"
#include "record/events/event_sets.h"
#include "record/events/event_spec.h"
#include "record/events/tracefs.h"

namespace perftape::record {

// Returns the event kLockTime: its samples have the raw record of lock:contention_begin, and the
// time until lock:contention_end as their period. `set` is kLockSet. Returns the errors of
// PlanEvents; kNotFound before Linux 5.19.
Result<PlannedEvent> PlanLock(const EventSpec& spec, const EventSet& set, const Tracefs& tracefs);

}  // namespace perftape::record
