// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/timeouts.h"

#include <cstddef>
#include <ranges>
#include <span>

namespace perftape::timeline {
namespace {

// After a timeout, a loop runs this long at most before it waits again.
constexpr std::int64_t kLongestTimeoutWork = 1'000'000;

bool HaveSameStack(const Timeline& timeline, const Interval& a, const Interval& b) {
  if (a.state != b.state || a.sample == kNone || b.sample == kNone) return false;
  const std::span<const convert::Sample> samples = timeline.profile().samples();
  return samples[a.sample].stack == samples[b.sample].stack;
}

bool IsEndedByTimer(const Timeline& timeline, StackFacts& facts, const ThreadLine& line,
                    const Interval& wait) {
  const Wakeup* const wakeup = line.WakeupOf(wait);
  if (wakeup == nullptr) return false;
  const convert::Sample& sample = timeline.profile().samples()[wakeup->sample];
  const bool is_idle_thread = timeline.profile()[sample.thread].tid == 0;
  return facts.WakerOf(sample.stack, is_idle_thread) == Waker::kTimer;
}

}  // namespace

std::int64_t StartOfTimeouts(const Timeline& timeline, StackFacts& facts, const ThreadLine& line,
                             const Interval& wait, std::int64_t floor) {
  const auto intervals = std::span(line.intervals);
  const auto index = static_cast<std::size_t>(&wait - intervals.data());
  std::int64_t start = wait.time.start;
  std::int64_t running = 0;  // since the wait before
  for (const Interval& before : intervals.first(index) | std::views::reverse) {
    if (start <= floor) break;
    if (before.state == State::kRunnable) continue;
    if (before.state == State::kRunning) {
      running += before.time.length();
      if (running > kLongestTimeoutWork) break;
      continue;
    }
    const bool is_timeout = HaveSameStack(timeline, before, wait) &&
                            IsEndedByTimer(timeline, facts, line, before) &&
                            !line.WokeIn({.start = before.time.end, .end = start});
    if (!is_timeout) break;
    start = before.time.start;
    running = 0;
  }
  return start;
}

}  // namespace perftape::timeline
