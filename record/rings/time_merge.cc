// SPDX-License-Identifier: Apache-2.0
#include "record/rings/time_merge.h"

#include <cstddef>
#include <cstring>
#include <optional>

#include "formats/perfdata/kernel_size.h"
#include "formats/perfdata/record.h"

namespace perftape::record {

void TimeMerge::Add(std::uint64_t time, Bytes record) {
  entries_.push_back({.time = time, .offset = arena_.size(), .size = record.size()});
  arena_.insert(arena_.end(), record.begin(), record.end());
}

Status TimeMerge::AddKernelRecord(Bytes record, const perfdata::SampleFormat& format) {
  const std::optional<perfdata::RecordView> view = perfdata::AsRecord(record);
  if (!view) {
    return Fail(ErrorCode::kCorrupt, "kernel record: " + std::to_string(record.size()) +
                                         " bytes are not one whole record");
  }
  const std::size_t size = KernelSize(*view, format);
  perfdata::RecordView whole = *view;
  whole.payload = whole.payload.first(size - sizeof(perfdata::RecordHeader));
  Add(TimeOf(whole, format), record.first(size));
  if (size < record.size()) SetSizeOfLast(static_cast<std::uint16_t>(size));
  return {};
}

void TimeMerge::SetSizeOfLast(std::uint16_t size) {
  std::byte* const header = arena_.data() + entries_.back().offset;
  std::memcpy(header + offsetof(perfdata::RecordHeader, size), &size, sizeof size);
}

std::size_t TimeMerge::SortUpTo(std::uint64_t limit) {
  const auto due = std::partition(entries_.begin(), entries_.end(),
                                  [limit](const Entry& entry) { return entry.time <= limit; });
  std::sort(entries_.begin(), due);
  return static_cast<std::size_t>(due - entries_.begin());
}

void TimeMerge::Forget(std::size_t count) {
  if (count == 0) return;
  entries_.erase(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(count));

  // In the order in which they were added, which records of equal time must keep.
  std::ranges::sort(entries_, {}, &Entry::offset);
  spare_.clear();
  for (Entry& entry : entries_) {
    const Bytes bytes = BytesOf(entry);
    entry.offset = spare_.size();
    spare_.insert(spare_.end(), bytes.begin(), bytes.end());
  }
  std::swap(arena_, spare_);
}

}  // namespace perftape::record
