// SPDX-License-Identifier: Apache-2.0
// What the programs know of the planned events.
#pragma once

#include <span>
#include <vector>

#include "record/bpf/bpf_session.h"
#include "record/events/event_plan.h"

namespace perftape::record {

std::vector<BpfEvent> BpfEventsOf(std::span<const PlannedEvent> planned);

}  // namespace perftape::record
