// SPDX-License-Identifier: Apache-2.0
// The feature TRACING_DATA: the formats of tracepoints, from tracefs of the recording machine. perf
// rejects a file that has samples of a tracepoint without its format
// (evlist__prepare_tracepoint_events, tools/perf/util/header.c).
#pragma once

#include <span>

#include "formats/base/bytes.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/features.h"

namespace perftape::rewrite {

// Returns whether the section is complete, as trace_report of tools/perf/util/trace-event-read.c
// reads it. Before version 0.6 it ends before saved_cmdlines.
bool IsTracingData(Bytes section);

// Returns a feature with the names and ids of the tracepoints among `events`, and with the fields
// that all tracepoints have. perf opens the file, and prints the other fields as raw bytes.
perfdata::TracingData MakeTracingData(std::span<const perfdata::Event> events);

}  // namespace perftape::rewrite
