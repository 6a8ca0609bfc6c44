// SPDX-License-Identifier: Apache-2.0
// Splits the records of a recording into ranges, so that several threads can read them. A perf.data
// does not say where a record in its middle begins. The beginning of a range is guessed. The walk
// through the range before it confirms the guess: it must end where this range begins.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "formats/base/parallel.h"
#include "formats/perfdata/reader.h"

namespace perftape::perfdata {

// File offsets at which records seem to begin, in ascending order: that of the first record, then
// one for about each 1/`count` of the data, as far as that pays. Only the first where the records
// lie in several files or come as a stream, of which none can be read in ranges.
std::vector<std::uint64_t> GuessRangeStarts(const Reader& reader, std::size_t count);

// Walks all records, those from starts[i] up to starts[i + 1] with a call parts[i].Add(record) for
// each, in their order. False where the starts were guessed wrong, or a record is compressed or
// damaged; the parts then hold nothing that can be relied on. There are as many parts as starts.
template <class Part>
bool WalkInRanges(const Reader& reader, const std::vector<std::uint64_t>& starts, unsigned threads,
                  std::vector<Part>& parts) {
  std::atomic<bool> is_right = true;
  ParallelFor(starts.size(), threads, [&](std::size_t range, unsigned /*worker*/) {
    if (!is_right) return;
    const bool is_last = range + 1 == starts.size();
    const std::uint64_t end = is_last ? reader.file().size() : starts[range + 1];
    RecordCursor cursor = reader.records_from(starts[range]);
    bool is_met = false;  // the next range
    while (!is_met && cursor.Step()) {
      const RecordView& record = cursor.record();
      if (record.type == RecordType::kCompressed || record.type == RecordType::kCompressed2) {
        is_right = false;
        return;
      }
      is_met = record.file_offset >= end;
      if (!is_met) parts[range].Add(record);
    }
    const bool ends_well = is_last ? !is_met : is_met && cursor.record().file_offset == end;
    if (!ends_well || cursor.ReleaseFailure()) is_right = false;
  });
  return is_right;
}

}  // namespace perftape::perfdata
