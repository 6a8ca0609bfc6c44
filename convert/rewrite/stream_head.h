// SPDX-License-Identifier: Apache-2.0
// What a stream of records says of itself: the ATTR, FEATURE and EVENT_UPDATE records that a pipe
// has in place of a header.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/features.h"

namespace perftape::rewrite {

struct StreamHead {
  perfdata::EventTable events;  // each once, however often it is told
  std::map<perfdata::FeatureBit, Bytes> features;
  std::map<std::uint64_t, std::string> names;  // of events, by their ids
  std::vector<std::string> problems;
};

// Looks at all records of `stream`, which lies at `offset` of its file and must outlive the head:
// they may be at its end.
StreamHead ReadStreamHead(Bytes stream, std::uint64_t offset, std::endian order);

}  // namespace perftape::rewrite
