// SPDX-License-Identifier: Apache-2.0
// Reads the HEADER_ATTR, HEADER_FEATURE, EVENT_UPDATE and TRACING_DATA records that a pipe has
// instead of a file header.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/tracepoints.h"

namespace perftape::rewrite {

struct PipeHeader {
  perfdata::EventTable events;  // each event once, even if the pipe repeats it
  std::map<perfdata::FeatureBit, Bytes> features;
  std::map<std::uint64_t, std::string> names;  // of events, by event id
  perfdata::Tracepoints tracepoints;           // of the first TRACING_DATA record
  std::vector<std::string> problems;
};

// Reads all records of `stream`, because header records may be at its end. `offset` is the offset
// of the stream in its file. The stream must outlive the header.
PipeHeader ReadPipeHeader(Bytes stream, std::uint64_t offset, std::endian order);

// Returns the tracepoints of a TRACING_DATA record at the start of a file's records, where
// simpleperf writes it. Empty if the records begin with another one.
perfdata::Tracepoints TracepointsOfFirstRecord(Bytes stream, std::uint64_t offset,
                                               std::endian order);

}  // namespace perftape::rewrite
