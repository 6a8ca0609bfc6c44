// SPDX-License-Identifier: Apache-2.0
#include "record/rings/time_merge.h"

#include <cstddef>
#include <cstring>
#include <limits>
#include <optional>

#include "formats/perfdata/kernel_size.h"
#include "formats/perfdata/record.h"

namespace perftape::record {

void TimeMerge::Add(std::uint64_t time, Bytes record, const ThreadRecord& thread) {
  entries_.push_back(
      {.time = time, .offset = arena_.size(), .size = record.size(), .thread = thread});
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
  format_ = format;
  Add(TimeOf(whole, format), record.first(size), ThreadRecordOf(whole));
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

std::uint64_t TimeMerge::BeforeLastExits(std::uint64_t limit) const {
  std::uint64_t before = limit;
  if (limit == std::numeric_limits<std::uint64_t>::max()) return before;
  for (const Entry& entry : entries_) {
    if (entry.thread.step != ThreadStep::kExit || entry.time > limit) continue;
    if (limit - entry.time < kLongestEndNs && entry.time > 0) {
      before = std::min(before, entry.time - 1);
    }
  }
  return before;
}

ExitOrder TimeMerge::OrderOf(std::size_t count) const {
  ExitOrder order;
  for (std::size_t i = 0; i < count; ++i) order.Add(i, entries_[i].thread);
  return order;
}

Bytes TimeMerge::ExitAt(std::uint64_t time, Bytes exit) {
  const std::optional<perfdata::RecordView> record = perfdata::AsRecord(exit);
  if (!record) return exit;
  const Result<perfdata::Exit> body = perfdata::Decode<perfdata::Exit>(*record, format_);
  if (!body) return exit;
  exit_.clear();
  perfdata::SampleId trailer = perfdata::DecodeSampleId(*record, format_);
  trailer.time = time;
  if (!perfdata::Encode(*body, trailer, format_, record->misc, exit_)) return exit;
  return exit_;
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
