// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/history.h"

#include <algorithm>
#include <cstring>
#include <string_view>

#include "formats/base/bytes.h"
#include "tools/serve/profiles.h"

namespace perftape::serve {
namespace {

// A merged window is at most such a part of the whole time.
constexpr int kLongestPart = 12;

std::uint64_t SizeOf(const HistoryFile::Entry& entry) {
  return HistoryFile::SizeOf(entry.row.bytes);
}

bool Belongs(const WindowView& window, const TimeSpan& span) {
  const std::uint64_t from_ns = std::max(window.start_ns, span.from_ns);
  const std::uint64_t to_ns = std::min(window.end_ns, span.to_ns);
  if (to_ns <= from_ns) return false;
  const std::uint64_t shorter_ns =
      std::min(window.end_ns - window.start_ns, span.to_ns - span.from_ns);
  return to_ns - from_ns >= shorter_ns - shorter_ns / 2;
}

// Numbers and texts, each text after its size.
std::string EncodeResets(const std::map<ResetKey, std::uint64_t>& resets) {
  std::string bytes;
  const auto append = [&](std::uint64_t number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  for (const auto& [key, number] : resets) {
    append(number);
    for (const std::string* const text : {&key.scope, &key.event}) {
      append(text->size());
      bytes += *text;
    }
  }
  return bytes;
}

std::map<ResetKey, std::uint64_t> DecodeResets(std::string_view bytes) {
  std::map<ResetKey, std::uint64_t> resets;
  const auto number = [&] {
    std::uint64_t value = 0;
    std::memcpy(&value, bytes.data(), std::min(bytes.size(), sizeof value));
    bytes.remove_prefix(std::min(bytes.size(), sizeof value));
    return value;
  };
  const auto text = [&] {
    const std::uint64_t size = std::min<std::uint64_t>(number(), bytes.size());
    const std::string value(bytes.substr(0, size));
    bytes.remove_prefix(size);
    return value;
  };
  while (!bytes.empty() && resets.size() < History::kMostResets) {
    const std::uint64_t last = number();
    ResetKey key = {.scope = text()};
    key.event = text();
    resets[std::move(key)] = last;
  }
  return resets;
}

}  // namespace

History::History(const HistoryLimits& limits, HistoryFile file)
    : limits_(limits), file_(std::move(file)) {
  for (Entry& entry : file_.Restore()) {
    if (entry.row.kind == HistoryFile::Row::Kind::kResets) {
      resets_ = DecodeResets(AsText(entry.window()->profile));
      kept_resets_ = std::move(entry);
      continue;
    }
    bytes_ += SizeOf(entry);
    next_number_ = entry.row.last + 1;
    entries_.push_back(std::move(entry));
  }
  for (const auto& [key, number] : resets_) next_number_ = std::max(next_number_, number + 1);
}

Status History::Add(const WindowView& window) {
  std::unique_lock lock(mutex_);
  const std::uint64_t number = next_number_++;
  Result<Entry> entry = file_.Add({.kind = HistoryFile::Row::Kind::kWindow,
                                   .first = number,
                                   .last = number,
                                   .start_ns = window.start_ns,
                                   .end_ns = window.end_ns},
                                  window.profile);
  if (!entry) {
    ++dropped_;
    return Fail(std::move(entry).error());
  }
  bytes_ += SizeOf(*entry);
  entries_.push_back(*std::move(entry));
  const auto span = static_cast<std::uint64_t>(limits_.span.count());
  while (entries_.size() > 1 && entries_.front().row.end_ns + span <= window.end_ns) DropFirst();
  while (IsOverLimits()) TRY(MergeOrDrop(lock));
  return {};
}

bool History::IsOverLimits() const {
  return entries_.size() > 1 && (bytes_ > limits_.bytes || entries_.size() > limits_.windows);
}

void History::DropFirst() {
  const Entry& first = entries_.front();
  bytes_ -= SizeOf(first);
  dropped_ += first.row.last - first.row.first + 1;
  file_.Remove(first);
  entries_.pop_front();
}

// Windows before and after a reset stay apart.
bool History::CanMerge(const Entry& before, const Entry& after) const {
  const auto length = static_cast<std::uint64_t>((limits_.span / kLongestPart).count());
  if (after.row.end_ns - before.row.start_ns > length) return false;
  return std::ranges::none_of(resets_,
                              [&](const auto& reset) { return reset.second == before.row.last; });
}

// Returns the index of the oldest two windows that were merged equally often, so that old windows
// become longer than new ones; else of the oldest two that can be merged.
std::optional<std::size_t> History::FindPair() const {
  std::optional<std::size_t> any;
  for (std::size_t i = 0; i + 1 < entries_.size(); ++i) {
    if (!CanMerge(entries_[i], entries_[i + 1])) continue;
    if (entries_[i].row.level == entries_[i + 1].row.level) return i;
    if (!any) any = i;
  }
  return any;
}

// Readers go on meanwhile: only this thread changes the entries. A reset in the middle keeps both.
Status History::MergeOrDrop(std::unique_lock<std::mutex>& lock) {
  const std::optional<std::size_t> index = FindPair();
  if (!index) {
    DropFirst();
    return {};
  }
  const Entry before = entries_[*index], after = entries_[*index + 1];
  lock.unlock();
  Result<Window> joined = Join(*before.window(), *after.window());
  lock.lock();
  if (!joined) {
    DropFirst();
    return Fail(std::move(joined).error());
  }
  if (!CanMerge(before, after)) return {};
  Result<Entry> merged = file_.Add({.kind = HistoryFile::Row::Kind::kWindow,
                                    .first = before.row.first,
                                    .last = after.row.last,
                                    .level = std::max(before.row.level, after.row.level) + 1,
                                    .start_ns = joined->start_ns,
                                    .end_ns = joined->end_ns},
                                   joined->profile);
  if (!merged) {
    DropFirst();
    return Fail(std::move(merged).error());
  }
  for (const Entry* const one : {&before, &after}) {
    bytes_ -= SizeOf(*one);
    merged_ += one->row.level == 0 ? 1 : 0;
    file_.Remove(*one);
  }
  bytes_ += SizeOf(*merged);
  entries_[*index] = *std::move(merged);
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(*index) + 1);
  return {};
}

// The new ones are in the file before the old ones are removed.
Status History::KeepResets() {
  const std::string bytes = EncodeResets(resets_);
  TRY_ASSIGN(Entry entry, file_.Add({.kind = HistoryFile::Row::Kind::kResets,
                                     .last = kept_resets_ ? kept_resets_->row.last + 1 : 1},
                                    AsBytes(bytes)));
  if (kept_resets_) file_.Remove(*kept_resets_);
  kept_resets_ = std::move(entry);
  return {};
}

std::vector<SelectedWindow> History::In(const TimeSpan& span) const {
  const std::lock_guard lock(mutex_);
  std::vector<SelectedWindow> windows;
  for (const Entry& entry : entries_) {
    if (Belongs(*entry.window(), span)) windows.push_back({.window = entry.window()});
  }
  return windows;
}

Result<std::vector<SelectedWindow>> History::SinceReset(const ResetKey& key, Reset reset) {
  const std::lock_guard lock(mutex_);
  const auto last_of = [&](const ResetKey& one) -> std::uint64_t {
    const auto found = resets_.find(one);
    return found == resets_.end() ? 0 : found->second;
  };
  const ResetKey of_all = {.scope = key.scope};
  const std::uint64_t last = std::max(last_of(key), last_of(of_all));
  // Without an event, those that were reset alone are left out of the windows before.
  std::vector<std::pair<std::string, std::uint64_t>> alone;
  if (key.event.empty()) {
    for (const auto& [one, number] : resets_) {
      if (one.scope == key.scope && !one.event.empty()) alone.emplace_back(one.event, number);
    }
  }
  std::vector<SelectedWindow> windows;
  for (const Entry& entry : entries_) {
    if (entry.row.last <= last) continue;
    SelectedWindow read = {.window = entry.window()};
    for (const auto& [event, number] : alone) {
      if (entry.row.last <= number) read.reset_events.insert(event);
    }
    windows.push_back(std::move(read));
  }
  if (reset == Reset::kYes) {
    if (resets_.size() >= kMostResets && !resets_.contains(key)) {
      return Fail(ErrorCode::kUnsupported, "reset: there are too many different readers");
    }
    const auto before = resets_;
    if (key.event.empty())
      std::erase_if(resets_, [&](const auto& one) { return one.first.scope == key.scope; });
    resets_[key] = next_number_ - 1;
    if (Status kept = KeepResets(); !kept) {
      resets_ = before;
      return Fail(std::move(kept).error());
    }
  }
  return windows;
}

HistoryCounts History::Counts() const {
  const std::lock_guard lock(mutex_);
  HistoryCounts counts = {
      .windows = entries_.size(), .bytes = bytes_, .merged = merged_, .dropped = dropped_};
  if (!entries_.empty()) {
    counts.start_ns = entries_.front().row.start_ns;
    counts.end_ns = entries_.back().row.end_ns;
  }
  return counts;
}

}  // namespace perftape::serve
