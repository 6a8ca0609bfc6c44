// SPDX-License-Identifier: Apache-2.0
// The windows of a timeline to analyse: the lives of threads, or the times between two events, such
// as the beginning and the end of a request.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "convert/filter/name_patterns.h"
#include "convert/timeline/critical_path.h"
#include "convert/timeline/timeline.h"
#include "formats/base/result.h"

namespace perftape::timeline {

struct ThreadChoice {
  std::set<std::int64_t> pids = {}, tids = {};
  convert::Globs comms = {}, cgroups = {};
  bool is_empty() const { return pids.empty() && tids.empty() && comms.empty() && cgroups.empty(); }
};

// Returns the lives of the chosen threads: all that match each condition, or without `tids` and
// `comms`, the main threads of these processes. Without a choice, the main thread of the only
// process that ran at the start: the command of the recording. Fails with kNotFound if no thread
// matches, and with kInvalidArgument if nothing was chosen and several processes ran at the start;
// the message names some.
Result<std::vector<Window>> LivesOf(const Timeline& timeline, const ThreadChoice& choice);

// A window whose thread is known by its ids.
struct ThreadWindow {
  std::uint32_t pid = 0, tid = 0;
  Span time;
};
std::vector<ThreadWindow> WithIds(const Timeline& timeline, const std::vector<Window>& windows);

struct EventPairs {
  convert::Globs from = {}, to = {};  // names of events
  // The key of a label: two events are a pair if its values are equal, even in different threads.
  // If empty, two events are a pair if their threads are the same.
  std::string key = {};
};

// Returns the windows from each sample of `from` to the next one of `to`, in the thread of the
// latter if it is chosen, in order of their ends. A second `from` before a `to` starts anew. Fails
// with kNotFound if the recording has no such event or no pair in a chosen thread.
Result<std::vector<Window>> WindowsBetween(const Timeline& timeline, const EventPairs& events,
                                           const ThreadChoice& choice = {});

// A range of percentiles of the windows' lengths: 0 to 100.
struct Percentiles {
  double from = 0, to = 100;
};
// Parses "p95..", "..p50" and "p40..p60". Fails with kInvalidArgument.
Result<Percentiles> ParsePercentiles(std::string_view text);

struct WindowChoice {
  std::optional<std::size_t> slowest = {};  // only this many
  std::optional<Percentiles> percentiles = {};
};
// Returns the chosen windows, the longest first.
std::vector<Window> Choose(std::vector<Window> windows, const WindowChoice& choice);

// The lengths of windows.
struct WindowLengths {
  std::size_t count = 0;
  std::int64_t median = 0, p90 = 0, p99 = 0, max = 0, sum = 0;  // in nanoseconds
  // How many windows are in each power of two: [2^i, 2^(i+1)) nanoseconds.
  std::array<std::size_t, 64> by_power = {};
};
WindowLengths LengthsOf(const std::vector<Window>& windows);

}  // namespace perftape::timeline
