// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/rounds.h"

#include <algorithm>
#include <limits>

namespace perftape::perfdata {

Result<std::optional<RecordView>> InTimeOrder::Next() {
  shelf_.TakeOff(std::exchange(delivered_, {}));
  while (true) {
    if (is_releasing_) {
      if (const std::optional<RecordView> record = NextReleased()) return record;
      if (round_) return std::exchange(round_, std::nullopt);
    }
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
      Release(round_limit_);
      round_limit_ = newest_;
      round_ = record;
      continue;
    }
    const Event* event = events_.EventOf(record);
    const std::uint64_t time = event == nullptr ? 0 : TimeOf(record, event->format);
    // ordered_events__queue: "if (!timestamp || timestamp == ~0ULL) return -ETIME", delivered at
    // once.
    if (time == 0 || time == std::numeric_limits<std::uint64_t>::max()) return record;
    Wait(record, time);
  }
}

void InTimeOrder::Wait(const RecordView& record, std::uint64_t time) {
  if (time < released_up_to_) ++out_of_order_;
  newest_ = std::max(newest_, time);
  const bool goes_on = !runs_.empty() && waiting_[runs_.back().end - 1].time <= time;
  waiting_.push_back({time, record, {}});
  waiting_.back().place = shelf_.Put(waiting_.back().record);
  if (goes_on) {
    ++runs_.back().end;
  } else {
    runs_.push_back({waiting_.size() - 1, waiting_.size()});
  }
}

// The earlier one of two runs' next records; of equal times, the one that was read first.
bool InTimeOrder::ComesBefore(std::size_t a, std::size_t b) const {
  const std::uint64_t time_a = waiting_[runs_[a].next].time;
  const std::uint64_t time_b = waiting_[runs_[b].next].time;
  return time_a != time_b ? time_a < time_b : a < b;
}

void InTimeOrder::Release(std::uint64_t limit) {
  limit_ = limit;
  is_releasing_ = true;
  heap_.clear();
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    if (waiting_[runs_[run].next].time <= limit) heap_.push_back(run);
  }
  std::ranges::make_heap(heap_, [this](std::size_t a, std::size_t b) { return ComesBefore(b, a); });
  ChooseRun();
}

void InTimeOrder::ChooseRun() {
  chosen_.reset();
  if (heap_.empty()) return;
  std::ranges::pop_heap(heap_, [this](std::size_t a, std::size_t b) { return ComesBefore(b, a); });
  chosen_ = heap_.back();
  heap_.pop_back();
}

std::optional<RecordView> InTimeOrder::NextReleased() {
  if (!chosen_) {
    Compact();
    is_releasing_ = false;
    return std::nullopt;
  }
  Run& run = runs_[*chosen_];
  const Waiting& waiting = waiting_[run.next++];
  released_up_to_ = std::max(released_up_to_, waiting.time);
  delivered_ = waiting.place;
  const RecordView record = waiting.record;
  const bool has_more = run.next < run.end && waiting_[run.next].time <= limit_;
  if (!has_more) {
    ChooseRun();
  } else if (!heap_.empty() && ComesBefore(heap_.front(), *chosen_)) {
    heap_.push_back(*chosen_);
    std::ranges::push_heap(heap_,
                           [this](std::size_t a, std::size_t b) { return ComesBefore(b, a); });
    ChooseRun();
  }
  return record;
}

// Forgets what was delivered; what is left keeps its order.
void InTimeOrder::Compact() {
  std::vector<Waiting> left;
  std::vector<Run> runs;
  for (const Run& run : runs_) {
    if (run.next == run.end) continue;
    const std::size_t start = left.size();
    left.insert(left.end(), waiting_.begin() + static_cast<std::ptrdiff_t>(run.next),
                waiting_.begin() + static_cast<std::ptrdiff_t>(run.end));
    runs.push_back({start, left.size()});
  }
  waiting_ = std::move(left);
  runs_ = std::move(runs);
}

}  // namespace perftape::perfdata
