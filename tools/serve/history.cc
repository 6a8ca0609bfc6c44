// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/history.h"

#include <algorithm>

#include "tools/serve/profiles.h"

namespace perftape::serve {
namespace {

// What a window needs beside its profile.
constexpr std::uint64_t kWindowBytes = 256;
// A merged window is at most such a part of the whole time.
constexpr int kLongestPart = 12;

std::uint64_t SizeOf(const Window& window) {
  return window.profile.size() + kWindowBytes;
}

bool Belongs(const Window& window, const TimeSpan& span) {
  const std::uint64_t from_ns = std::max(window.start_ns, span.from_ns);
  const std::uint64_t to_ns = std::min(window.end_ns, span.to_ns);
  if (to_ns <= from_ns) return false;
  const std::uint64_t shorter_ns =
      std::min(window.end_ns - window.start_ns, span.to_ns - span.from_ns);
  return to_ns - from_ns >= shorter_ns - shorter_ns / 2;
}

}  // namespace

Status History::Add(Window window) {
  std::unique_lock lock(mutex_);
  bytes_ += SizeOf(window);
  const std::uint64_t number = next_number_++;
  const std::uint64_t end_ns = window.end_ns;
  entries_.push_back({.window = std::make_shared<const Window>(std::move(window)),
                      .first = number,
                      .last = number});
  const auto span = static_cast<std::uint64_t>(limits_.span.count());
  while (entries_.size() > 1 && entries_.front().window->end_ns + span <= end_ns) DropFirst();
  while (IsOverLimits()) TRY(MergeOrDrop(lock));
  return {};
}

bool History::IsOverLimits() const {
  return entries_.size() > 1 && (bytes_ > limits_.bytes || entries_.size() > limits_.windows);
}

void History::DropFirst() {
  const Entry& first = entries_.front();
  bytes_ -= SizeOf(*first.window);
  dropped_ += first.last - first.first + 1;
  entries_.pop_front();
}

// Windows before and after a reset stay apart.
bool History::CanMerge(const Entry& before, const Entry& after) const {
  const auto length = static_cast<std::uint64_t>((limits_.span / kLongestPart).count());
  if (after.window->end_ns - before.window->start_ns > length) return false;
  return std::ranges::none_of(resets_,
                              [&](const auto& reset) { return reset.second == before.last; });
}

// Returns the index of the oldest two windows that were merged equally often, so that old windows
// become longer than new ones; else of the oldest two that can be merged.
std::optional<std::size_t> History::FindPair() const {
  std::optional<std::size_t> any;
  for (std::size_t i = 0; i + 1 < entries_.size(); ++i) {
    if (!CanMerge(entries_[i], entries_[i + 1])) continue;
    if (entries_[i].level == entries_[i + 1].level) return i;
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
  Result<Window> joined = Join(*before.window, *after.window);
  lock.lock();
  if (!joined) {
    DropFirst();
    return Fail(std::move(joined).error());
  }
  if (!CanMerge(before, after)) return {};
  bytes_ -= SizeOf(*before.window) + SizeOf(*after.window);
  bytes_ += SizeOf(*joined);
  merged_ += before.level == 0 ? 1 : 0;
  merged_ += after.level == 0 ? 1 : 0;
  entries_[*index] = {.window = std::make_shared<const Window>(*std::move(joined)),
                      .first = before.first,
                      .last = after.last,
                      .level = std::max(before.level, after.level) + 1};
  entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(*index) + 1);
  return {};
}

std::vector<SelectedWindow> History::In(const TimeSpan& span) const {
  const std::lock_guard lock(mutex_);
  std::vector<SelectedWindow> windows;
  for (const Entry& entry : entries_) {
    if (Belongs(*entry.window, span)) windows.push_back({.window = entry.window});
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
    if (entry.last <= last) continue;
    SelectedWindow read = {.window = entry.window};
    for (const auto& [event, number] : alone) {
      if (entry.last <= number) read.reset_events.insert(event);
    }
    windows.push_back(std::move(read));
  }
  if (reset == Reset::kYes) {
    if (resets_.size() >= kMostResets && !resets_.contains(key)) {
      return Fail(ErrorCode::kUnsupported, "reset: there are too many different readers");
    }
    if (key.event.empty())
      std::erase_if(resets_, [&](const auto& one) { return one.first.scope == key.scope; });
    resets_[key] = next_number_ - 1;
  }
  return windows;
}

HistoryCounts History::Counts() const {
  const std::lock_guard lock(mutex_);
  HistoryCounts counts = {
      .windows = entries_.size(), .bytes = bytes_, .merged = merged_, .dropped = dropped_};
  if (!entries_.empty()) {
    counts.start_ns = entries_.front().window->start_ns;
    counts.end_ns = entries_.back().window->end_ns;
  }
  return counts;
}

}  // namespace perftape::serve
