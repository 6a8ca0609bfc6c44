// SPDX-License-Identifier: Apache-2.0
// Returns the records of a perf.data in time order. A file contains the records of several CPUs as
// they were drained. FINISHED_ROUND promises that no later record is older than the newest record
// before the previous FINISHED_ROUND (perf's ordered_events__flush with OE_FLUSH__ROUND). So memory
// contains the records of two rounds, not the whole file.
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

// Has the interface of a cursor and returns the records of a cursor in time order, those of equal
// time in file order. Records of time 0 (synthesized) and tool records are returned at once. A
// FINISHED_ROUND is returned after the records that it releases.
class InTimeOrder {
 public:
  // `events` must outlive the InTimeOrder.
  InTimeOrder(RecordCursor cursor, const EventTable& events)
      : cursor_(std::move(cursor)), lookup_(events) {}

  // Like RecordCursor::Next. If the cursor fails, returns all records before the damage first, then
  // the error.
  Result<std::optional<RecordView>> Next();

  // Like RecordCursor::Step.
  bool Step();
  const RecordView& record() const { return record_; }
  std::optional<Error> ReleaseFailure() { return cursor_.ReleaseFailure(); }

  // The event of the record that was returned last, by EventTable::EventOf.
  const Event* event() const { return event_; }

  // The number of records that are older than their round allows. They are returned with the next
  // round, after newer ones.
  std::uint64_t out_of_order() const { return out_of_order_; }
  // The position of the first of them, in the format of PositionOf; empty if there is none.
  const std::string& first_out_of_order() const { return first_out_of_order_; }

 private:
  // A record that waits to be returned. It is a RecordView without the fields that are equal for
  // all records of a file, and without those that no waiting record uses. It is small because each
  // record of the file is stored and loaded once as a Waiting.
  struct Waiting {
    std::uint64_t time = 0;
    const Event* event = nullptr;
    const std::byte* payload = nullptr;
    std::uint64_t file_offset = 0;
    RecordHeader header = {};
    std::int32_t inside = -1;
    RecordShelf::Position position;
    std::uint32_t part = 0;
    bool is_lasting = true;
  };
  // Consecutive records with ascending times, usually those of one CPU's buffer. [next, end) of
  // waiting_ are not returned yet.
  struct Run {
    std::size_t next = 0, end = 0;
  };
  // A run with records to release, and the time of its next record.
  struct Ready {
    std::uint64_t time = 0;
    std::size_t run = 0;
    // For equal times, the run that was read first comes first.
    auto operator<=>(const Ready&) const = default;
  };

  // What the next call of Step does.
  enum class State : std::uint8_t {
    kReading,         // reads records, which wait
    kReleasingRound,  // returns what a FINISHED_ROUND releases, and then the FINISHED_ROUND
    kReleasingRest,   // returns what waits at the end of the file
    kDone,
  };
  struct Limits {
    std::uint64_t newest = 0;  // the latest time that was read
    std::uint64_t next_round =
        0;                       // `newest` at the last FINISHED_ROUND: what the next one releases
    std::uint64_t release = 0;   // the last time of the current release
    std::uint64_t returned = 0;  // the latest time that was returned: older records are too late
  };

  // Reads until a record is returned at once (true), or records are released (false).
  bool StepReading();
  void Wait(const RecordView& record, const EventLookup::Answer& answer);
  // Starts to return the waiting records that are not newer than `limit`.
  void Release(State releasing, std::uint64_t limit);
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
  std::vector<Ready> heap_;      // earliest first, without chosen_
  std::optional<Ready> chosen_;  // the current run, while it has the earliest record
  State state_ = State::kReading;
  Limits limits_;
  RecordView round_;                         // the FINISHED_ROUND, while its records are released
  const Event* round_event_ = nullptr;       // of round_
  RecordView record_;                        // returned last
  const Event* event_ = nullptr;             // of record_
  std::endian order_ = std::endian::native;  // of all records
  RecordShelf::Position delivered_;          // of record_, valid until the next call
  std::uint64_t out_of_order_ = 0;
  std::string first_out_of_order_;
};

}  // namespace perftape::perfdata
