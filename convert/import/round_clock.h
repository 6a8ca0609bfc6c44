// SPDX-License-Identifier: Apache-2.0
// The time order of records, for a reader that reads them in file order.
//
// perfdata::InTimeOrder holds records back until FINISHED_ROUND allows it to sort them, as perf
// does. A RoundClock gives each record a sort key instead. Records sorted by key have the order in
// which InTimeOrder delivers them, with one difference. If a record is older than its round allows,
// InTimeOrder delivers it after newer ones. Here its key has the record's own time.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>

#include "formats/perfdata/record.h"

namespace perftape::convert {

// Compares by time, and equal times by the order in the file.
struct SortKey {
  std::uint64_t time = 0;             // on the recording's clock
  std::uint64_t sequence_number = 0;  // of the record in the file, from 1
  auto operator<=>(const SortKey&) const = default;
};

class RoundClock {
 public:
  // Call it for each record of a file, in file order. `time` is 0 for a record without a time.
  SortKey KeyOf(const perfdata::RecordView& record, std::uint64_t time) {
    const std::uint64_t sequence_number = ++records_;
    if (record.type == perfdata::RecordType::kFinishedRound) {
      released_ = std::max(released_, round_limit_);
      round_limit_ = newest_;
    }
    // A record without a time is delivered at once, after those of the finished rounds.
    if (time == 0 || time == std::numeric_limits<std::uint64_t>::max()) {
      return {released_, sequence_number};
    }
    newest_ = std::max(newest_, time);
    if (time < released_) ++out_of_order_;
    return {time, sequence_number};
  }

  // Skips `records` records. None of them may be a FINISHED_ROUND. Their times are from `oldest` to
  // `newest`. Returns false and changes nothing if some are older than their round allows; then
  // call KeyOf for each.
  bool Advance(std::uint64_t records, std::uint64_t oldest, std::uint64_t newest) {
    if (oldest < released_) return false;
    records_ += records;
    newest_ = std::max(newest_, newest);
    return true;
  }

  // The number of records that were older than their round allows.
  std::uint64_t out_of_order() const { return out_of_order_; }

 private:
  std::uint64_t records_ = 0;
  std::uint64_t newest_ = 0;       // the newest time so far
  std::uint64_t round_limit_ = 0;  // newest_ at the last FINISHED_ROUND
  std::uint64_t released_ = 0;     // all records up to this time are delivered
  std::uint64_t out_of_order_ = 0;
};

}  // namespace perftape::convert
