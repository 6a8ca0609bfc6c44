// SPDX-License-Identifier: Apache-2.0
// How many records of which type a perf.data holds, and how many samples of which event.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/reader.h"
#include "tools/inspect/sample_shares.h"

namespace perftape::inspect {

struct EventStatistics {
  std::uint64_t samples = 0;
  std::uint64_t period = 0;        // of all its samples
  std::uint64_t lost_samples = 0;  // its LOST_SAMPLES records say so
};

struct Statistics {
  std::map<perfdata::RecordType, std::uint64_t> records;
  std::vector<EventStatistics> events;  // as in the EventTable
  // By the name at the time of the sample, and by what was mapped at its ip then.
  SharesByName comms, dsos;
  std::uint64_t lost_records = 0;     // records that a full ring refused (LOST), all kinds
  std::uint64_t lost_samples = 0;     // samples that were never written (LOST_SAMPLES)
  std::uint64_t skipped_samples = 0;  // of an unknown event, or too short for any
  std::uint64_t cut_off_samples = 0;  // counted, though shorter than they say
  std::string first_unread;           // where the first of these two kinds is: "0x1f40"
  std::optional<Error> damage;        // why counting ended before the file did
};

// The statistics do not depend on how many threads may work at once.
Statistics CountRecords(const perfdata::Reader& reader, unsigned threads = 1);

// First, line by line, what `perf report --stats` prints of the same file; then what was lost, the
// periods, and the shares of comms and dsos, largest first.
std::string StatisticsText(const Statistics& statistics, const perfdata::EventTable& events);

}  // namespace perftape::inspect
