// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/event_lookup.h"

#include <bit>
#include <utility>

namespace perftape::perfdata {
namespace {

// The number of words of these fields in a record of this format.
std::uint8_t Words(const SampleFormat& format, std::uint64_t bits) {
  return static_cast<std::uint8_t>(std::popcount(format.sample_type & bits));
}

std::uint64_t WordAt(const RecordView& record, std::size_t byte) {
  return LoadFixed<std::uint64_t>(record.payload.data() + byte, record.order);
}

}  // namespace

EventLookup::EventLookup(const EventTable& events) : events_(events) {
  for (const Event& event : events.all()) {
    const SampleFormat& format = event.format;
    TimeWordIndex& time = times_.emplace_back();
    if (!format.Has(kTime)) continue;
    time.in_sample = Words(format, kIdentifier | kIp | kTid);
    if (format.sample_id_all) {
      time.from_end = Words(format, kTime | kId | kStreamId | kCpu | kIdentifier);
    }
  }
  if (events.size() == 0) return;
  const SampleFormat& format = events[0].format;
  if (events.size() == 1 || !(format.Has(kIdentifier) || format.Has(kId))) {
    Remember(&events[0]);
  } else if (format.Has(kIdentifier)) {
    id_in_sample_ = 0;
    id_from_end_ = 1;
  } else {
    id_in_sample_ = Words(format, kIp | kTid | kTime | kAddr);
    id_from_end_ = Words(format, kId | kStreamId | kCpu);
  }
  if (!format.sample_id_all) id_from_end_.reset();
}

EventLookup::Answer EventLookup::Find(const RecordView& record) {
  if (times_.empty()) return {};
  const bool is_sample = record.type == RecordType::kSample;
  if (!is_sample && std::to_underlying(record.type) >= kFirstToolType) return {&events_[0], 0};

  Answer answer{&events_[0], 0};
  const std::size_t size = record.payload.size();
  if (const WordIndex index = is_sample ? id_in_sample_ : id_from_end_) {
    const std::size_t words = size / kWordSize;
    const std::size_t word = is_sample ? *index : words - *index;
    if (word >= words) return {};
    answer.event = FindById(WordAt(record, word * kWordSize));
    if (answer.event == nullptr) return {};
  }
  const TimeWordIndex& time = times_[events_.IndexOf(*answer.event)];
  if (const WordIndex index = is_sample ? time.in_sample : time.from_end) {
    const std::size_t byte = is_sample ? *index * kWordSize : size - *index * kWordSize;
    if (byte < size && size - byte >= kWordSize) answer.time = WordAt(record, byte);
  }
  return answer;
}

const Event* EventLookup::FindById(std::uint64_t id) {
  if (last_ == nullptr || id != last_id_) {
    Remember(events_.FindById(id));
    last_id_ = id;
  }
  return last_;
}

void EventLookup::Remember(const Event* event) {
  last_ = event;
  last_time_ = event == nullptr ? WordIndex() : times_[events_.IndexOf(*event)].in_sample;
}

}  // namespace perftape::perfdata
