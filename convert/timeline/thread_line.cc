// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/thread_line.h"

#include <algorithm>

namespace perftape::timeline {

std::string_view NameOf(State state) {
  constexpr std::string_view kNames[kStates] = {"running", "runnable",    "disk",        "lock",
                                                "sleep",   "short waits", "not recorded"};
  return kNames[static_cast<std::size_t>(state)];
}

Span Common(const Span& a, const Span& b) {
  return {.start = std::max(a.start, b.start), .end = std::min(a.end, b.end)};
}

std::span<const SampleAt> Within(std::span<const SampleAt> samples, const Span& range) {
  const auto begin = std::ranges::lower_bound(samples, range.start, {}, &SampleAt::time_ns);
  const auto end = std::ranges::lower_bound(samples, range.end, {}, &SampleAt::time_ns);
  return begin < end ? std::span(begin, end) : std::span<const SampleAt>();
}

std::span<const Interval> ThreadLine::Overlapping(const Span& range) const {
  if (range.is_empty()) return {};
  const auto begin = std::ranges::upper_bound(intervals, range.start, {},
                                              [](const Interval& one) { return one.time.end; });
  const auto end = std::ranges::lower_bound(intervals, range.end, {},
                                            [](const Interval& one) { return one.time.start; });
  return begin < end ? std::span(begin, end) : std::span<const Interval>();
}

std::span<const SampleAt> ThreadLine::OnCpuIn(const Span& range) const {
  return Within(on_cpu, range);
}

// The wait may begin before what was read, and so have another start here.
const Wakeup* ThreadLine::WakeupOf(const Interval& wait) const {
  const auto after = std::ranges::upper_bound(wakeups, wait.time.end, {}, &Wakeup::time_ns);
  for (auto at = after; at != wakeups.begin();) {
    --at;
    if (at->time_ns < wait.time.start) return nullptr;
    if (at->start_ns <= wait.time.start) return &*at;
  }
  return nullptr;
}

bool ThreadLine::WokeIn(const Span& range) const {
  const auto first = std::ranges::lower_bound(woke, range.start);
  return first != woke.end() && *first < range.end;
}

}  // namespace perftape::timeline
