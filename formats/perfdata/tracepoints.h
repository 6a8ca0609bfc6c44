// SPDX-License-Identifier: Apache-2.0
// The names of the tracepoints in TRACING_DATA by id, which is the config of their attribute. The
// section has trace-cmd's old format: copies of tracefs files (tools/perf/util/trace-event-info.c,
// tracing_data_get). Only the names are read.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "formats/base/bytes.h"

namespace perftape::perfdata {

// The names by id, for example "sched:sched_switch". Tracepoints after damage are missing.
std::map<std::uint64_t, std::string> TracepointNames(Bytes tracing_data);

}  // namespace perftape::perfdata
