// SPDX-License-Identifier: Apache-2.0
#include "record/output/record_counter.h"

namespace perftape::record {

RecordCounts& RecordCounts::operator+=(const RecordCounts& other) {
  samples += other.samples;
  lost_samples += other.lost_samples;
  process_events += other.process_events;
  return *this;
}

RecordCounts RecordCounts::operator-(const RecordCounts& other) const {
  return {.samples = samples - other.samples,
          .lost_samples = lost_samples - other.lost_samples,
          .process_events = process_events - other.process_events};
}

RecordCounter::RecordCounter(const FileEvents& events)
    : format_(events.format()), samples_by_event_(events.sampling().size()) {
  for (std::uint32_t event = 0; event < events.sampling().size(); ++event) {
    for (const std::uint64_t id : events.ids().IdsOf(event)) events_by_id_[id] = event;
  }
}

Status RecordCounter::Count(const perfdata::RecordView& record) {
  if (record.type == perfdata::RecordType::kSample) {
    ++counted_.samples;
    // IDENTIFIER is the first field.
    const auto id = LoadFixed<std::uint64_t>(record.payload.data(), record.order);
    if (const auto event = EventOf(id)) ++samples_by_event_[*event];
    sample_time_.last_ns = perfdata::TimeOf(record, format_);
    if (sample_time_.first_ns == 0) sample_time_.first_ns = sample_time_.last_ns;
    return {};
  }
  if (record.type == perfdata::RecordType::kLostSamples) {
    const auto lost = perfdata::Decode<perfdata::LostSamples>(record, format_);
    if (lost) counted_.lost_samples += lost->count;
    return {};
  }
  ++counted_.process_events;
  return record.type == perfdata::RecordType::kLost ? CountLost(record) : Status();
}

Status RecordCounter::CountLost(const perfdata::RecordView& record) {
  TRY_ASSIGN(const perfdata::Lost lost, perfdata::Decode<perfdata::Lost>(record, format_));
  const std::uint32_t cpu = perfdata::DecodeSampleId(record, format_).cpu;
  sideband_losses_[static_cast<int>(cpu)] += lost.count;
  return {};
}

void RecordCounter::StartFile() {
  before_file_ = counted_.samples;
  sample_time_ = {};
}

std::optional<std::size_t> RecordCounter::EventOf(std::uint64_t id) const {
  const auto event = events_by_id_.find(id);
  if (event == events_by_id_.end()) return std::nullopt;
  return event->second;
}

}  // namespace perftape::record
