// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/rounds.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace perftape::perfdata {

Result<std::optional<RecordView>> InTimeOrder::Next() {
  if (Step()) return record_;
  if (std::optional<Error> failure = cursor_.ReleaseFailure()) return Fail(*std::move(failure));
  return std::nullopt;
}

bool InTimeOrder::Step() {
  shelf_.Release(std::exchange(delivered_, {}));
  while (true) {
    switch (state_) {
      case State::kReading:
        if (StepReading()) return true;
        break;
      case State::kReleasingRound:
        if (StepReleased()) return true;
        state_ = State::kReading;
        Deliver(round_, round_event_);
        return true;
      case State::kReleasingRest:
        if (StepReleased()) return true;
        state_ = State::kDone;
        break;
      case State::kDone:
        return false;
    }
  }
}

bool InTimeOrder::StepReading() {
  while (cursor_.Step()) {
    const RecordView& record = cursor_.record();
    const EventLookup::Answer answer = lookup_.Of(record);
    if (record.type == RecordType::kFinishedRound) {
      Release(State::kReleasingRound, limits_.next_round);
      limits_.next_round = limits_.newest;
      round_ = record;
      round_event_ = answer.event;
      return false;
    }
    // ordered_events__queue: "if (!timestamp || timestamp == ~0ULL) return -ETIME", delivered at
    // once.
    if (answer.time == 0 || answer.time == std::numeric_limits<std::uint64_t>::max()) {
      Deliver(record, answer.event);
      return true;
    }
    Wait(record, answer);
  }
  Release(State::kReleasingRest, std::numeric_limits<std::uint64_t>::max());
  return false;
}

void InTimeOrder::Deliver(const RecordView& record, const Event* event) {
  record_ = record;
  event_ = event;
}

void InTimeOrder::Wait(const RecordView& record, const EventLookup::Answer& answer) {
  if (answer.time < limits_.returned && out_of_order_++ == 0)
    first_out_of_order_ = PositionOf(record);
  limits_.newest = std::max(limits_.newest, answer.time);
  order_ = record.order;
  const bool extends_run = !waiting_.empty() && waiting_.back().time <= answer.time;
  Waiting& waiting = waiting_.emplace_back();
  waiting.time = answer.time;
  waiting.event = answer.event;
  waiting.payload = record.payload.data();
  waiting.file_offset = record.file_offset;
  waiting.header = {record.type, record.misc, static_cast<std::uint16_t>(record.size())};
  waiting.inside = record.inside;
  waiting.part = record.part;
  waiting.is_lasting = record.is_lasting;
  if (!record.is_lasting) waiting.position = shelf_.Put(record.payload, waiting.payload);
  if (extends_run) {
    ++runs_.back().end;
  } else {
    runs_.push_back({waiting_.size() - 1, waiting_.size()});
  }
}

void InTimeOrder::Release(State releasing, std::uint64_t limit) {
  state_ = releasing;
  limits_.release = limit;
  heap_.clear();
  for (std::size_t run = 0; run < runs_.size(); ++run) {
    const std::uint64_t time = waiting_[runs_[run].next].time;
    if (time <= limit) heap_.push_back({time, run});
  }
  std::ranges::make_heap(heap_, std::greater());
  ChooseRun();
}

void InTimeOrder::ChooseRun() {
  chosen_.reset();
  if (heap_.empty()) return;
  std::ranges::pop_heap(heap_, std::greater());
  chosen_ = heap_.back();
  heap_.pop_back();
}

// Returns the next record to release in record_; false if none is left.
bool InTimeOrder::StepReleased() {
  if (!chosen_) {
    Compact();
    return false;
  }
  Run& run = runs_[chosen_->run];
  const Waiting& waiting = waiting_[run.next++];
  limits_.returned = std::max(limits_.returned, waiting.time);
  delivered_ = waiting.position;
  event_ = waiting.event;
  record_ = {.type = waiting.header.type,
             .misc = waiting.header.misc,
             .payload = Bytes(waiting.payload, waiting.header.size - sizeof(RecordHeader)),
             .file_offset = waiting.file_offset,
             .order = order_,
             .is_lasting = waiting.is_lasting,
             .part = waiting.part,
             .inside = waiting.inside};

  const bool has_more = run.next < run.end && waiting_[run.next].time <= limits_.release;
  if (!has_more) {
    ChooseRun();
    return true;
  }
  chosen_->time = waiting_[run.next].time;
  if (!heap_.empty() && heap_.front() < *chosen_) {
    std::swap(heap_.front(), *chosen_);
    SinkFirst();
  }
  return true;
}

// Restores the heap property of heap_ after its first element changed.
void InTimeOrder::SinkFirst() {
  std::size_t hole = 0;
  const Ready sinking = heap_.front();
  for (std::size_t child = 1; child < heap_.size(); child = 2 * hole + 1) {
    if (child + 1 < heap_.size() && heap_[child + 1] < heap_[child]) ++child;
    if (!(heap_[child] < sinking)) break;
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = sinking;
}

// Removes the returned records. The other records and the runs keep their order.
void InTimeOrder::Compact() {
  std::size_t kept_runs = 0;
  std::size_t kept = 0;
  for (const Run run : runs_) {
    if (run.next == run.end) continue;
    const std::size_t start = kept;
    for (std::size_t i = run.next; i < run.end; ++i) waiting_[kept++] = waiting_[i];
    runs_[kept_runs++] = {start, kept};
  }
  waiting_.resize(kept);
  runs_.resize(kept_runs);
}

}  // namespace perftape::perfdata
