// SPDX-License-Identifier: Apache-2.0
// The statistics of a perf.data as JSON.
#pragma once

#include <string>

#include "tools/inspect/statistics.h"

namespace perftape::inspect {

// Returns one line:
//
//   {"stats":{"records":{"SAMPLE":13},"events":[{"name":"cycles","samples":13,"period":130,
//    "lost_samples":0}],"lost":{"LOST":0,"LOST_SAMPLES":0},"skipped_samples":0}}
//
// LOST counts records of any type, LOST_SAMPLES counts samples; a sum would count some losses
// twice. If counting stopped before the end of the file, "damage" has the reason.
std::string StatisticsJson(const Statistics& statistics, const perfdata::EventTable& events);

}  // namespace perftape::inspect
