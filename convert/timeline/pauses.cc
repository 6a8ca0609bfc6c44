// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/pauses.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "convert/timeline/share.h"
#include "formats/bundle/recording_notes.h"
#include "formats/perfdata/event_meanings.h"

namespace perftape::timeline {
namespace {

// Adds the part of an interval, with its share of short waits.
void AddPart(const Interval& whole, const Span& part, State state, std::vector<Interval>& to) {
  if (part.is_empty()) return;
  Interval interval = whole;
  interval.time = part;
  interval.state = state;
  interval.short_waits = ShareOf(whole.short_waits, part.length(), whole.time.length());
  if (state == State::kNotRecorded) {
    interval.sample = kNone;
    interval.short_waits = 0;
  }
  to.push_back(interval);
}

std::int64_t TimeOf(std::uint64_t time_ns) {
  constexpr auto kLatest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 2;
  return static_cast<std::int64_t>(std::min(time_ns, kLatest));
}

}  // namespace

std::vector<Span> PausesOf(const convert::ImportReport& input) {
  std::vector<Span> pauses;
  if (!input.recording_notes) return pauses;
  for (const bundle::NotedPauses& of : input.recording_notes->pauses) {
    // All waits are off at the same times.
    if (!of.event.empty() && of.event != perfdata::kOffCpuTime.name) continue;
    for (const bundle::NotedPause& pause : of.pauses) {
      pauses.push_back({.start = TimeOf(pause.from_ns), .end = TimeOf(pause.until_ns)});
    }
  }
  std::ranges::stable_sort(pauses, {}, &Span::start);
  return pauses;
}

void BlankPauses(std::span<const Span> pauses, std::vector<Interval>& intervals) {
  if (pauses.empty()) return;
  std::vector<Interval> split;
  auto pause = pauses.begin();
  for (const Interval& interval : intervals) {
    std::int64_t at = interval.time.start;
    while (pause != pauses.end() && pause->start < interval.time.end) {
      const Span off = Common(*pause, {.start = at, .end = interval.time.end});
      if (!off.is_empty()) {
        AddPart(interval, {.start = at, .end = off.start}, interval.state, split);
        AddPart(interval, off, State::kNotRecorded, split);
        at = off.end;
      }
      if (pause->end > interval.time.end) break;
      ++pause;
    }
    AddPart(interval, {.start = at, .end = interval.time.end}, interval.state, split);
  }
  intervals = std::move(split);
}

}  // namespace perftape::timeline
