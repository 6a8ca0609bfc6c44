// SPDX-License-Identifier: Apache-2.0
// Returns the records of a perf.data in time order. A file holds the records of several CPUs as
// they were drained. FINISHED_ROUND promises that no later record is older than the newest record
// before the previous FINISHED_ROUND (perf's ordered_events__flush with OE_FLUSH__ROUND). So memory
// holds the records of two rounds, not the whole file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/event_lookup.h"
#include "formats/perfdata/reader.h"
#include "formats/perfdata/record_shelf.h"

namespace perftape::perfdata {

// Wraps a cursor and is a cursor: the same records, in time order, equal times in file order.
// Records of time 0 (synthesized) and tool records come at once. FINISHED_ROUND itself is passed on
// at the position where it was read. `events` must outlive it.
class InTimeOrder {
 public:
  InTimeOrder(RecordCursor cursor, const EventTable& events)
      : cursor_(std::move(cursor)), lookup_(events) {}

  // As RecordCursor::Next. Where the cursor fails, all records before the damage are delivered
  // first, then the error.
  Result<std::optional<RecordView>> Next();

  // The same in the manner of RecordCursor::Step.
  bool Step();
  const RecordView& record() const { return record_; }
  std::optional<Error> ReleaseFailure() { return cursor_.ReleaseFailure(); }

  // The event of the record that was delivered last, as EventTable::EventOf finds it.
  const Event* event() const { return event_; }

  // Records that came later than their round promised; they are delivered with the next round,
  // behind newer ones.
  std::uint64_t out_of_order() const { return out_of_order_; }
  // Where the first of them is, as PositionOf says it; empty where there is none.
  const std::string& first_out_of_order() const { return first_out_of_order_; }

 private:
  // A record that waits for its turn: a RecordView without what all of a file's have in common, and
  // without what no waiting record has, for as many of these are written and read as there are
  // records.
  struct Waiting {
    std::uint64_t time = 0;
    const Event* event = nullptr;
    const std::byte* payload = nullptr;
    std::uint64_t file_offset = 0;
    RecordHeader header = {};
    std::int32_t inside = -1;
    RecordShelf::Position position;
    std::uint16_t part = 0;
    bool is_lasting = true;
  };
  // Records that were read one behind the other with rising times, most often those of one CPU's
  // buffer: [next, end) of waiting_ are still to be delivered.
  struct Run {
    std::size_t next = 0, end = 0;
  };
  // A run that has something to release, and the time of its next record.
  struct Ready {
    std::uint64_t time = 0;
    std::size_t run = 0;
    // Of equal times, the one that was read first.
    auto operator<=>(const Ready&) const = default;
  };

  void Wait(const RecordView& record, const EventLookup::Answer& answer);
  // Begins to deliver what is not newer than `limit`.
  void Release(std::uint64_t limit);
  bool StepReleased();
  void Deliver(const RecordView& record, const Event* event);
  void ChooseRun();
  void SinkFirst();
  void Compact();

  RecordCursor cursor_;
  EventLookup lookup_;
  RecordShelf shelf_;
  std::vector<Waiting> waiting_;
  std::vector<Run> runs_;
  std::vector<Ready> heap_;      // earliest first; without the chosen one
  std::optional<Ready> chosen_;  // the run that is delivered from, as long as it comes first
  std::uint64_t limit_ = 0;
  std::optional<RecordView> round_;  // a FINISHED_ROUND, delivered behind what it releases
  RecordView record_;                // delivered last
  const Event* event_ = nullptr;     // of record_
  const Event* round_event_ = nullptr;
  std::endian order_ = std::endian::native;  // of all records
  RecordShelf::Position delivered_;  // of the record delivered last, valid until the next call
  bool is_releasing_ = false;
  bool at_end_ = false;
  std::uint64_t newest_ = 0;       // time seen so far
  std::uint64_t round_limit_ = 0;  // newest_ at the last FINISHED_ROUND
  std::uint64_t released_up_to_ = 0;
  std::uint64_t out_of_order_ = 0;
  std::string first_out_of_order_;
};

}  // namespace perftape::perfdata
