// SPDX-License-Identifier: Apache-2.0
// Time order. Records of several CPUs lie in a perf.data as they were drained; a FINISHED_ROUND
// promises that nothing older than the newest record before the round before it will follow (perf's
// ordered_events__flush with OE_FLUSH__ROUND). So memory holds two rounds, not the file.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "formats/base/result.h"
#include "formats/perfdata/reader.h"

namespace perftape::perfdata {

// Wraps a cursor and is a cursor: the same records, in time order, equal times in file order.
// Records of time 0 (synthesized) and tool records come at once. FINISHED_ROUND itself is passed on
// at the place where it was read. Both arguments must outlive it.
class InTimeOrder {
 public:
  InTimeOrder(RecordCursor cursor, const EventTable& events) : cursor_(cursor), events_(events) {}

  // As RecordCursor::Next. Where the cursor fails, all records before the damage are delivered
  // first, then the error.
  Result<std::optional<RecordView>> Next();

  // Records that came later than their round promised; they are delivered with the next round,
  // behind newer ones.
  std::uint64_t out_of_order() const { return out_of_order_; }

 private:
  struct Waiting {
    std::uint64_t time;
    RecordView record;
  };
  // Moves waiting records with a time up to `limit` to ready_, in order.
  void Release(std::uint64_t limit);
  void FinishRound();

  RecordCursor cursor_;
  const EventTable& events_;
  std::vector<Waiting> waiting_;
  std::deque<RecordView> ready_;
  std::optional<Error> failure_;
  bool at_end_ = false;
  std::uint64_t newest_ = 0;       // time seen so far
  std::uint64_t round_limit_ = 0;  // newest_ at the last FINISHED_ROUND
  std::uint64_t released_up_to_ = 0;
  std::uint64_t out_of_order_ = 0;
};

}  // namespace perftape::perfdata
