// SPDX-License-Identifier: Apache-2.0
// The names of the tracepoints that TRACING_DATA describes, by their id, which is the config of
// their attribute. The section is in trace-cmd's old format, copies of tracefs files
// (tools/perf/util/trace-event-info.c, tracing_data_get). Only the names are read.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "formats/base/bytes.h"

namespace perftape::perfdata {

// "sched:sched_switch" by its id. What lies behind damage is not there.
std::map<std::uint64_t, std::string> TracepointNames(Bytes tracing_data);

}  // namespace perftape::perfdata
