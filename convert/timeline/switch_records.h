// SPDX-License-Identifier: Apache-2.0
// Waits from context switches: the records SWITCH and SWITCH_CPU_WIDE of perf record
// --switch-events. They have neither stacks nor reasons.
#pragma once

#include <span>
#include <vector>

#include "convert/model/task_event.h"
#include "convert/timeline/switches.h"
#include "convert/timeline/timeline.h"

namespace perftape::timeline {

// Returns the waits of threads within `time`, from switches in any order. A thread that was
// preempted is kRunnable. Any other is kSleep, from the switch away from it until it is on a CPU
// again. The time before its first switch to a CPU, and the time between two switches away from a
// CPU, is kNotRecorded.
std::vector<Switches::Wait> WaitsOf(std::vector<convert::ThreadSwitch> switches, const Span& time);

}  // namespace perftape::timeline
