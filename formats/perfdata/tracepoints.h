// SPDX-License-Identifier: Apache-2.0
// The tracepoints that TRACING_DATA describes, by the number that is their attribute's config. The
// blob is trace-cmd's old format (tools/perf/util/trace-event-info.c, tracing_data_get): copies of
// tracefs files, of which the names are taken here.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "formats/base/bytes.h"

namespace perftape::perfdata {

// "sched:sched_switch" by its id. What lies behind damage is not there.
std::map<std::uint64_t, std::string> TracepointNames(Bytes tracing_data);

}  // namespace perftape::perfdata
