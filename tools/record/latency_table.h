// SPDX-License-Identifier: Apache-2.0
// What --interval prints of latency probes.
#pragma once

#include <span>
#include <string>

#include "record/input/latency_ledger.h"

namespace perftape::record_tool {

// A table with a heading: calls, failed calls, percentiles and the longest call of each probe.
std::string LatencyTable(std::span<const record::LatencyInterval> probes);
// One JSON object in a line; durations are in nanoseconds.
std::string LatencyJsonLine(std::span<const record::LatencyInterval> probes);

}  // namespace perftape::record_tool
