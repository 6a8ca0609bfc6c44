// SPDX-License-Identifier: Apache-2.0
// When the turn of a record comes, in the order in which perfdata::InTimeOrder delivers them, for
// those who do not wait for it: records may then be taken as they lie in the file, each in the
// state of its turn. Only a record that comes later than its round promised has another turn:
// InTimeOrder, as perf, delivers it behind newer ones, but here it has the turn of its own time.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>

#include "formats/perfdata/record.h"

namespace perftape::convert {

// Turns are in order of time, of equal times in that of the file.
struct Turn {
  std::uint64_t time = 0;
  std::uint64_t number = 0;  // of the record, in the file
  auto operator<=>(const Turn&) const = default;
};

class TurnClock {
 public:
  // Of each record of a file, one after the other; `time` is 0 of those that have none.
  Turn Of(const perfdata::RecordView& record, std::uint64_t time) {
    const std::uint64_t number = ++records_;
    if (record.type == perfdata::RecordType::kFinishedRound) {
      released_ = std::max(released_, round_limit_);
      round_limit_ = newest_;
    }
    // What has no time is delivered at once, behind what the rounds before have released.
    if (time == 0 || time == std::numeric_limits<std::uint64_t>::max()) return {released_, number};
    newest_ = std::max(newest_, time);
    if (time < released_) ++out_of_order_;
    return {time, number};
  }

  // The same for `records` that are no FINISHED_ROUND and whose turns nobody asks for: the times of
  // those that have one are from `oldest` to `newest`. False, and nothing is changed, where some of
  // them came later than their round promised; which, only Of tells.
  bool Pass(std::uint64_t records, std::uint64_t oldest, std::uint64_t newest) {
    if (oldest < released_) return false;
    records_ += records;
    newest_ = std::max(newest_, newest);
    return true;
  }

  // Records that came later than their round promised.
  std::uint64_t out_of_order() const { return out_of_order_; }

 private:
  std::uint64_t records_ = 0;
  std::uint64_t newest_ = 0;       // time so far
  std::uint64_t round_limit_ = 0;  // newest_ at the last FINISHED_ROUND
  std::uint64_t released_ = 0;     // all up to this time had their turn
  std::uint64_t out_of_order_ = 0;
};

}  // namespace perftape::convert
