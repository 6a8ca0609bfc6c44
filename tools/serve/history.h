// SPDX-License-Identifier: Apache-2.0
// The windows of the last time, in bounded memory. If they need more, adjacent old windows are
// merged: they need less together, and times are less exact. If that does not suffice, the oldest
// are dropped and counted. They are in a file that another process keeps open (history_file.h): the
// next server goes on with them, and with what readers have reset.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/result.h"
#include "tools/serve/history_file.h"
#include "tools/serve/window.h"

namespace perftape::serve {

struct HistoryLimits {
  std::uint64_t bytes = std::uint64_t{64} << 20;
  std::chrono::nanoseconds span = std::chrono::hours(1);
  std::size_t windows = 720;  // more are merged: each costs time when it is read
};

struct HistoryCounts {
  std::uint64_t windows = 0, bytes = 0;    // that are kept
  std::uint64_t start_ns = 0, end_ns = 0;  // of them
  std::uint64_t merged = 0, dropped = 0;   // windows of the recorder so far
};

// Times of CLOCK_MONOTONIC. A window belongs to the range if at least half of it is in the range,
// or if it has at least half of the range.
struct TimeSpan {
  std::uint64_t from_ns = 0, to_ns = UINT64_MAX;
};

// Counts that a reader resets: of all events, or of one, in one scope.
struct ResetKey {
  std::string scope = {};
  std::string event = {};  // empty: all

  auto operator<=>(const ResetKey&) const = default;
};

enum class Reset : std::uint8_t { kNo, kYes };

// A window, and the events whose counts were reset after it.
struct SelectedWindow {
  std::shared_ptr<const WindowView> window;
  std::set<std::string> reset_events = {};
};

// Thread-safe. Only one thread adds.
class History {
 public:
  // After so many different keys, further ones cannot be reset.
  static constexpr std::size_t kMostResets = 1000;

  // Begins with what is in the file.
  History(const HistoryLimits& limits, HistoryFile file);

  // Adds a window that begins where the last one ended. Fails as HistoryFile::Add does, with the
  // window dropped and counted; and as Join does, with the window added.
  Status Add(const WindowView& window);

  std::vector<SelectedWindow> In(const TimeSpan& span) const;
  // Returns the windows since the last reset of the key. With Reset::kYes, all that are returned
  // are reset: no later call with this key returns them. Fails with kUnsupported for too many keys,
  // and as HistoryFile::Add does.
  Result<std::vector<SelectedWindow>> SinceReset(const ResetKey& key, Reset reset);

  HistoryCounts Counts() const;

 private:
  using Entry = HistoryFile::Entry;

  void DropFirst();
  bool IsOverLimits() const;
  bool CanMerge(const Entry& before, const Entry& after) const;
  std::optional<std::size_t> FindPair() const;
  Status MergeOrDrop(std::unique_lock<std::mutex>& lock);
  Status KeepResets();

  const HistoryLimits limits_;
  mutable std::mutex mutex_;  // of what follows
  HistoryFile file_;
  std::deque<Entry> entries_;
  std::optional<Entry> kept_resets_;
  std::uint64_t next_number_ = 1;
  std::uint64_t bytes_ = 0, merged_ = 0, dropped_ = 0;
  std::map<ResetKey, std::uint64_t> resets_;  // the last number that was returned
};

}  // namespace perftape::serve
