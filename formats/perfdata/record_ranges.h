// SPDX-License-Identifier: Apache-2.0
// Splits the records of a recording into ranges, so that several threads can read them. A perf.data
// has no index of its records. So the start of a range is a guess. The walk through the previous
// range confirms it: that range must end at the start of this one.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "formats/base/parallel.h"
#include "formats/base/progress.h"
#include "formats/perfdata/reader.h"

namespace perftape::perfdata {

// File offsets at which records seem to begin, in ascending order: the first record, then one for
// about each 1/`count` of the data, unless the ranges become too small. If the records are in
// several files or come from a stream, only the first, because these cannot be read in ranges.
std::vector<std::uint64_t> GuessRangeStarts(const Reader& reader, std::size_t count);

// Calls parts[i].Add(record) for each record from starts[i] up to starts[i + 1], in file order, on
// up to `threads` threads. There are as many parts as starts. Returns false if a start is wrong, or
// if a record is compressed or damaged. Then the content of the parts is invalid.
template <class Part>
bool WalkInRanges(const Reader& reader, const std::vector<std::uint64_t>& starts, unsigned threads,
                  std::vector<Part>& parts) {
  std::atomic<bool> is_right = true;
  ParallelFor(starts.size(), threads, [&](std::size_t range, unsigned /*worker*/) {
    if (!is_right) return;
    const bool is_last = range + 1 == starts.size();
    const std::uint64_t end = is_last ? reader.file().size() : starts[range + 1];
    RecordCursor cursor = reader.records_from(starts[range]);
    bool reached_next = false;
    ProgressMeter progress(starts[range]);
    while (!reached_next && cursor.Step()) {
      const RecordView& record = cursor.record();
      if (IsCompressed(record.type)) {
        is_right = false;
        return;
      }
      progress.MoveTo(record.file_offset, 0);
      reached_next = record.file_offset >= end;
      if (!reached_next) parts[range].Add(record);
    }
    progress.Finish(cursor.record().file_offset, 0);
    const bool ends_well =
        is_last ? !reached_next : reached_next && cursor.record().file_offset == end;
    if (!ends_well || cursor.ReleaseFailure()) is_right = false;
  });
  return is_right;
}

}  // namespace perftape::perfdata
