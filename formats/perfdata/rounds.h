// SPDX-License-Identifier: Apache-2.0
// Time order. Records of several CPUs lie in a perf.data as they were drained; a FINISHED_ROUND
// promises that nothing older than the newest record before the round before it will follow (perf's
// ordered_events__flush with OE_FLUSH__ROUND). So memory holds two rounds, not the file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/record_shelf.h"

namespace perftape::perfdata {

// Wraps a cursor and is a cursor: the same records, in time order, equal times in file order.
// Records of time 0 (synthesized) and tool records come at once. FINISHED_ROUND itself is passed on
// at the place where it was read. `events` must outlive it.
class InTimeOrder {
 public:
  InTimeOrder(RecordCursor cursor, const EventTable& events)
      : cursor_(std::move(cursor)), events_(events) {}

  // As RecordCursor::Next. Where the cursor fails, all records before the damage are delivered
  // first, then the error.
  Result<std::optional<RecordView>> Next();

  // Records that came later than their round promised; they are delivered with the next round,
  // behind newer ones.
  std::uint64_t out_of_order() const { return out_of_order_; }

 private:
  struct Waiting {
    std::uint64_t time = 0;
    RecordView record;
    RecordShelf::Place place;
  };
  // Records that were read one behind the other with rising times, most often those of one CPU's
  // buffer: [next, end) of waiting_ are still to be delivered.
  struct Run {
    std::size_t next = 0, end = 0;
  };

  void Wait(const RecordView& record, std::uint64_t time);
  // Begins to deliver what is not newer than `limit`.
  void Release(std::uint64_t limit);
  // The next of what is being released; nothing when all of it is delivered.
  std::optional<RecordView> NextReleased();
  void ChooseRun();
  void Compact();
  bool ComesBefore(std::size_t a, std::size_t b) const;

  RecordCursor cursor_;
  const EventTable& events_;
  RecordShelf shelf_;
  std::vector<Waiting> waiting_;
  std::vector<Run> runs_;
  std::vector<std::size_t> heap_;  // of the runs that have something to release, but the chosen one
  std::optional<std::size_t> chosen_;  // the run that is delivered from, as long as it comes first
  std::uint64_t limit_ = 0;
  std::optional<RecordView> round_;  // a FINISHED_ROUND, delivered behind what it releases
  RecordShelf::Place delivered_;     // of the record delivered last, valid until the next call
  std::optional<Error> failure_;
  bool is_releasing_ = false;
  bool at_end_ = false;
  std::uint64_t newest_ = 0;       // time seen so far
  std::uint64_t round_limit_ = 0;  // newest_ at the last FINISHED_ROUND
  std::uint64_t released_up_to_ = 0;
  std::uint64_t out_of_order_ = 0;
};

}  // namespace perftape::perfdata
