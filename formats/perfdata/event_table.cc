// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/event_table.h"

#include <bit>
#include <utility>

namespace perftape::perfdata {

void EventTable::Add(Event event) {
  const std::size_t index = events_.size();
  for (const std::uint64_t id : event.ids) by_id_.try_emplace(id, index);
  events_.push_back(std::move(event));
}

void EventTable::AddId(std::size_t index, std::uint64_t id) {
  if (by_id_.try_emplace(id, index).second) events_[index].ids.push_back(id);
}

const Event* EventTable::FindById(std::uint64_t id) const {
  if (events_.empty()) return nullptr;
  if (id == 0 || events_.size() == 1) return &events_.front();
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : &events_[found->second];
}

const Event* EventTable::EventOf(const RecordView& record) const {
  if (events_.empty()) return nullptr;
  const Event& first = events_.front();
  const bool is_tool_record = std::to_underlying(record.type) >= kFirstToolType;
  if (events_.size() == 1 || is_tool_record) return &first;

  // perf requires that the id has the same index for all events (evlist__valid_sample_type).
  const SampleFormat& format = first.format;
  const auto words = [&](std::uint64_t bits) {
    return static_cast<std::size_t>(std::popcount(format.sample_type & bits));
  };
  const std::size_t size = record.payload.size() / sizeof(std::uint64_t);
  std::size_t index = 0;
  if (record.type == RecordType::kSample) {
    if (!format.Has(kIdentifier)) {
      if (!format.Has(kId)) return &first;
      index = words(kIp | kTid | kTime | kAddr);
    }
  } else {
    if (!format.sample_id_all) return &first;
    if (!format.Has(kIdentifier) && !format.Has(kId)) return &first;
    const std::size_t from_end = format.Has(kIdentifier) ? 1 : words(kId | kStreamId | kCpu);
    if (from_end > size) return nullptr;
    index = size - from_end;
  }
  if (index >= size) return nullptr;
  const std::byte* at = record.payload.data() + index * sizeof(std::uint64_t);
  return FindById(LoadFixed<std::uint64_t>(at, record.order));
}

}  // namespace perftape::perfdata
