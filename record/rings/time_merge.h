// SPDX-License-Identifier: Apache-2.0
// Sorts the records of one drain by time. A record that is later than the limit waits for the next
// drain, because an earlier one may still arrive in a ring that was already drained. So a
// FINISHED_ROUND after the released records is correct: no later record is older than the newest
// record before the previous FINISHED_ROUND (tools/perf/util/ordered-events.c, OE_FLUSH__ROUND).
//
//   const std::uint64_t limit = now_ns - slack_ns;
//   ... drain all rings into the merge ...
//   TRY(merge.Release(limit, sink));
//   TRY(sink.Append(finished_round));
//
// The EXIT record of a thread is moved after its last sample (exit_order.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/writer.h"
#include "record/rings/exit_order.h"

namespace perftape::record {

// Owns copies of all waiting records in one buffer, which grows to the size of the largest drain.
// Not thread-safe.
class TimeMerge {
 public:
  // Adds one whole record with its time in nanoseconds, and what it says about a thread.
  void Add(std::uint64_t time, Bytes record, const ThreadRecord& thread = {});

  // Adds a sample of a thread: the record that write(buffer) appends to a std::vector<std::byte>.
  // It returns the time, or an error; then nothing is added.
  template <class Write>
  Status AddSample(std::uint32_t tid, const Write& write) {
    const std::size_t offset = arena_.size();
    const Result<std::uint64_t> time = write(arena_);
    if (!time) {
      arena_.resize(offset);
      return std::unexpected(time.error());
    }
    entries_.push_back({.time = *time,
                        .offset = offset,
                        .size = arena_.size() - offset,
                        .thread = SampleOfThread(tid)});
    return {};
  }

  // Adds one record as the kernel wrote it, with the time in its trailer. If the size in the header
  // includes bytes after the trailer, removes them and corrects the size
  // (formats/perfdata/kernel_size.h). kCorrupt if `record` is not exactly one whole record.
  Status AddKernelRecord(Bytes record, const perfdata::SampleFormat& format);

  // How long to wait at most for the samples of a thread that come after its EXIT. On a busy
  // machine, the thread waits for a CPU before it can end.
  static constexpr std::uint64_t kLongestEndNs = 100'000'000;
  // Returns a limit for Release: `limit`, or the time before the EXIT of a thread whose last
  // samples may still arrive, which is up to kLongestEndNs less. UINT64_MAX stays.
  std::uint64_t BeforeLastExits(std::uint64_t limit) const;

  // Appends every record up to and including `limit` to `sink`, oldest first; records of equal time
  // in the order in which they were added. An EXIT that is moved has the time of the sample before
  // it; the time in its body remains. A record is valid during Append. After an error of the
  // sink, the other records up to `limit` are dropped. UINT64_MAX releases everything.
  template <perfdata::RecordSink Sink>
  Status Release(std::uint64_t limit, Sink& sink) {
    const std::size_t due = SortUpTo(limit);
    const ExitOrder order = OrderOf(due);
    Status status;
    for (std::size_t i = 0; i < due && status; ++i) {
      if (order.IsMoved(i)) continue;
      status = sink.Append(BytesOf(entries_[i]));
      const std::optional<std::size_t> exit = order.ExitAfter(i);
      if (status && exit) status = sink.Append(ExitAt(entries_[i].time, BytesOf(entries_[*exit])));
    }
    Forget(due);
    return status;
  }

 private:
  struct Entry {
    std::uint64_t time;
    std::size_t offset, size;  // in arena_; a record added later has a larger offset
    ThreadRecord thread;

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
  // The order of the first `count` entries.
  ExitOrder OrderOf(std::size_t count) const;
  // Returns an EXIT with another time in its trailer. Valid until the next call.
  Bytes ExitAt(std::uint64_t time, Bytes exit);
  // Removes the first `count` entries and their bytes.
  void Forget(std::size_t count);

  std::vector<Entry> entries_;
  std::vector<std::byte> arena_;
  std::vector<std::byte> spare_;   // the remaining bytes are copied there, then both are swapped
  perfdata::SampleFormat format_;  // of the last record of the kernel
  std::vector<std::byte> exit_;    // scratch
};

}  // namespace perftape::record
