// SPDX-License-Identifier: Apache-2.0
// Sorts the records of one drain by time. A record that is younger than the limit waits for the
// next drain, because an older one may still arrive in a ring that was drained before. So a
// FINISHED_ROUND after the released records is correct: no later record is older than the newest
// record before the previous FINISHED_ROUND (tools/perf/util/ordered-events.c, OE_FLUSH__ROUND).
//
//   const std::uint64_t limit = now_ns - slack_ns;
//   ... drain all rings into the merge ...
//   TRY(merge.Release(limit, sink));
//   TRY(sink.Append(finished_round));
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/writer.h"

namespace perftape::record {

// Owns copies of all waiting records in one buffer, which grows to the size of the largest drain.
// Not thread-safe.
class TimeMerge {
 public:
  // Adds one whole record with its time in nanoseconds.
  void Add(std::uint64_t time, Bytes record);

  // Adds the record that write(buffer) appends to a std::vector<std::byte>. It returns the time, or
  // an error; then nothing is added.
  template <class Write>
  Status AddWritten(const Write& write) {
    const std::size_t offset = arena_.size();
    const Result<std::uint64_t> time = write(arena_);
    if (!time) {
      arena_.resize(offset);
      return std::unexpected(time.error());
    }
    entries_.push_back({.time = *time, .offset = offset, .size = arena_.size() - offset});
    return {};
  }

  // Adds one record as the kernel wrote it, with the time in its trailer. If the size in the header
  // includes bytes after the trailer, removes them and corrects the size
  // (formats/perfdata/kernel_size.h). kCorrupt if `record` is not exactly one whole record.
  Status AddKernelRecord(Bytes record, const perfdata::SampleFormat& format);

  // Appends every record up to and including `limit` to `sink`, oldest first; records of equal time
  // in the order in which they were added. A record is valid during Append. After an error of the
  // sink, the other records up to `limit` are dropped. UINT64_MAX releases everything.
  template <perfdata::RecordSink Sink>
  Status Release(std::uint64_t limit, Sink& sink) {
    const std::size_t due = SortUpTo(limit);
    Status status;
    for (std::size_t i = 0; i < due && status; ++i) status = sink.Append(BytesOf(entries_[i]));
    Forget(due);
    return status;
  }

 private:
  struct Entry {
    std::uint64_t time;
    std::size_t offset, size;  // in arena_; a record added later has a larger offset

    bool operator<(const Entry& other) const {
      return std::tie(time, offset) < std::tie(other.time, other.offset);
    }
  };

  Bytes BytesOf(const Entry& entry) const {
    return Bytes(arena_).subspan(entry.offset, entry.size);
  }
  void SetSizeOfLast(std::uint16_t size);
  // Moves the entries up to `limit` to the front, sorted. Returns their number.
  std::size_t SortUpTo(std::uint64_t limit);
  // Removes the first `count` entries and their bytes.
  void Forget(std::size_t count);

  std::vector<Entry> entries_;
  std::vector<std::byte> arena_;
  std::vector<std::byte> spare_;  // the remaining bytes are copied there, then both are swapped
};

}  // namespace perftape::record
