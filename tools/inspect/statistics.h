// SPDX-License-Identifier: Apache-2.0
// The statistics of a perf.data as text and as JSON.
#pragma once

#include <string>

#include "convert/records/statistics.h"

namespace perftape::inspect {

// Returns first the lines that `perf report --stats` prints for the same file. Then follow the
// losses, the periods, and the shares of comms and dsos, largest first.
std::string StatisticsText(const records::Statistics& statistics,
                           const perfdata::EventTable& events);

// Returns one line:
//
//   {"stats":{"records":{"SAMPLE":13},"events":[{"name":"cycles","samples":13,"period":130,
//    "lost_samples":0}],"lost":{"LOST":0,"LOST_SAMPLES":0},"skipped_samples":0}}
//
// LOST counts records of any type, LOST_SAMPLES counts samples; a sum would count some losses
// twice. If counting stopped before the end of the file, "damage" has the reason.
std::string StatisticsJson(const records::Statistics& statistics,
                           const perfdata::EventTable& events);

}  // namespace perftape::inspect
