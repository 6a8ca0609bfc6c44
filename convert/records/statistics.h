// SPDX-License-Identifier: Apache-2.0
// Counts the records of each type and the samples of each event in a perf.data.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "convert/records/sample_shares.h"
#include "formats/base/result.h"
#include "formats/perfdata/reader.h"

namespace perftape::records {

struct EventStatistics {
  std::uint64_t samples = 0;
  std::uint64_t period = 0;        // of all its samples
  std::uint64_t lost_samples = 0;  // from its LOST_SAMPLES records

  bool operator==(const EventStatistics&) const = default;
};

struct Statistics {
  std::map<perfdata::RecordType, std::uint64_t> records;
  std::vector<EventStatistics> events;  // as in the EventTable
  // By the comm at the time of the sample, and by the dso that was then mapped at its ip.
  SharesByName comms, dsos;
  std::uint64_t lost_records = 0;     // records of all types that did not fit in a full ring (LOST)
  std::uint64_t lost_samples = 0;     // samples that were never written (LOST_SAMPLES)
  std::uint64_t skipped_samples = 0;  // of an unknown event, or too short to decode
  std::uint64_t cut_off_samples = 0;  // counted, although they end inside their fields
  std::string first_unread;           // the first of these two kinds: "0x1f40"
  std::optional<Error> damage;        // why counting stopped before the end of the file
};

// Counts with `threads` threads. The result does not depend on their number.
Statistics CountRecords(const perfdata::Reader& reader, unsigned threads = 1);

// Counts samples in file order, each with the state of its time. The dso that they hit is looked up
// once per page. Returns the same result as counting in time order. Returns nothing if the records
// must be read in order: if the recording is short, damaged or not an uncompressed file, or if
// counters are read with the samples (PERF_SAMPLE_READ).
std::optional<Statistics> CountInRanges(const perfdata::Reader& reader, unsigned threads);

}  // namespace perftape::records
