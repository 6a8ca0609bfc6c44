// SPDX-License-Identifier: Apache-2.0
// The feature TRACING_DATA: the formats of tracepoints, from tracefs of the recording machine. perf
// rejects a file that has samples of a tracepoint without its format
// (evlist__prepare_tracepoint_events, tools/perf/util/header.c).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/attr.h"

namespace perftape::rewrite {

// Whether all parts of the section are there, as trace_report of
// tools/perf/util/trace-event-read.c reads them.
bool IsTracingData(Bytes section);

// A section that tells the names and ids of the tracepoints among `events`, and of their fields
// those that all have: perf opens the file, and prints the other fields as raw bytes.
std::vector<std::byte> MakeTracingData(std::span<const perfdata::Event> events);

}  // namespace perftape::rewrite
