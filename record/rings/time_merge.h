// SPDX-License-Identifier: Apache-2.0
// Samples and process events of one drain, which come ring by ring, into one order: that of their
// times. A record younger than the drain's limit waits for the next one, because an older one may
// still be on its way through a ring that was emptied before. So what is released, followed by a
// FINISHED_ROUND, keeps the promise of that record: nothing older than the newest record before the
// previous FINISHED_ROUND comes after it (tools/perf/util/ordered-events.c, OE_FLUSH__ROUND).
//
//   const std::uint64_t limit = now_ns - slack_ns;
//   ... drain all rings into the merge ...
//   TRY(merge.Release(limit, sink));
//   TRY(sink.Append(finished_round));
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/writer.h"

namespace perftape::record {

// Owns copies of all records that wait, in one buffer that grows to the largest drain. Not
// thread-safe.
class TimeMerge {
 public:
  // One whole record and its time in nanoseconds.
  void Add(std::uint64_t time, Bytes record);

  // One record as the kernel wrote it, its time taken from its trailer. Where its header counts
  // bytes behind the trailer, these are left out and the size is set right
  // (formats/perfdata/kernel_size.h). kCorrupt where it is not exactly one whole record.
  Status AddKernelRecord(Bytes record, const perfdata::SampleFormat& format);

  // Hands on every record up to and including `limit`, oldest first, those of equal times in the
  // order they were added. A record is valid during its Append. Where the sink fails, the rest of
  // what was due is gone with it. UINT64_MAX releases everything.
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
    std::size_t offset, size;  // in arena_; a later record has a larger offset

    bool operator<(const Entry& other) const {
      return std::tie(time, offset) < std::tie(other.time, other.offset);
    }
  };

  Bytes BytesOf(const Entry& entry) const {
    return Bytes(arena_).subspan(entry.offset, entry.size);
  }
  void SetSizeOfLast(std::uint16_t size);
  // Brings the entries up to `limit` to the front, in order; how many these are.
  std::size_t SortUpTo(std::uint64_t limit);
  // Takes the first `count` entries away, and their bytes.
  void Forget(std::size_t count);

  std::vector<Entry> entries_;
  std::vector<std::byte> arena_;
  std::vector<std::byte> spare_;  // what stays moves there, then both change places
};

}  // namespace perftape::record
