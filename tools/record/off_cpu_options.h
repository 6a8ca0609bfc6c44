// SPDX-License-Identifier: Apache-2.0
// The values of perftape-record's options for -e offcpu.
#pragma once

#include <chrono>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/events/event_spec.h"

namespace perftape::record_tool {

// "500us", "1.5ms", "2s" or "0". Without a unit it is in milliseconds, as perf's --off-cpu-thresh.
Result<std::chrono::nanoseconds> ParseThreshold(std::string_view option, std::string_view text);

// Adds the event of --wakers. Fails with kInvalidArgument if no waits are recorded.
Status AddWakers(std::vector<record::EventSpec>& events);

}  // namespace perftape::record_tool
