// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/rounds.h"

#include <algorithm>
#include <limits>

namespace perftape::perfdata {

Result<std::optional<RecordView>> InTimeOrder::Next() {
  while (ready_.empty()) {
    if (at_end_) {
      if (failure_) return Fail(*std::exchange(failure_, std::nullopt));
      return std::nullopt;
    }
    Result<std::optional<RecordView>> next = cursor_.Next();
    if (!next || !*next) {
      if (!next) failure_ = std::move(next).error();
      at_end_ = true;
      Release(std::numeric_limits<std::uint64_t>::max());
      continue;
    }
    const RecordView& record = **next;
    if (record.type == RecordType::kFinishedRound) {
      FinishRound();
      ready_.push_back(record);
      continue;
    }
    const Event* event = events_.EventOf(record);
    const std::uint64_t time = event == nullptr ? 0 : TimeOf(record, event->format);
    // ordered_events__queue: "if (!timestamp || timestamp == ~0ULL) return -ETIME", delivered at
    // once.
    if (time == 0 || time == std::numeric_limits<std::uint64_t>::max()) {
      ready_.push_back(record);
      continue;
    }
    if (time < released_up_to_) ++out_of_order_;
    newest_ = std::max(newest_, time);
    waiting_.push_back({time, record});
  }
  const RecordView record = ready_.front();
  ready_.pop_front();
  return record;
}

void InTimeOrder::FinishRound() {
  Release(round_limit_);
  round_limit_ = newest_;
}

void InTimeOrder::Release(std::uint64_t limit) {
  std::ranges::stable_sort(waiting_, {}, &Waiting::time);
  const auto end = std::ranges::upper_bound(waiting_, limit, {}, &Waiting::time);
  for (auto waiting = waiting_.begin(); waiting != end; ++waiting) {
    released_up_to_ = std::max(released_up_to_, waiting->time);
    ready_.push_back(waiting->record);
  }
  waiting_.erase(waiting_.begin(), end);
}

}  // namespace perftape::perfdata
