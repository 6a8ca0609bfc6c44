// SPDX-License-Identifier: Apache-2.0
#include "record/events/timer_limit.h"

#include <fmt/core.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "formats/base/duration.h"
#include "formats/base/file.h"
#include "record/events/event_attrs.h"
#include "record/machine/clock.h"

namespace perftape::record {
namespace {

// The program that takes a sample with its call chains, on a common machine.
constexpr std::uint64_t kProgramNs = 6'000;
constexpr std::uint64_t kUsualInterruptNs = 10'000;

bool HasFrequency(const PlannedEvent& event) {
  return event.attr.Has(perfdata::kFreq);
}

SamplingRate RateOf(const PlannedEvent& event) {
  if (HasFrequency(event)) return Frequency{event.attr.sample_period};
  return Period{event.attr.sample_period};
}

// In expiries per second.
double ExpiriesOf(const PlannedEvent& event) {
  return static_cast<double>(kNsPerSecond) / static_cast<double>(TimerPeriodNs(RateOf(event)));
}

void Slow(PlannedEvent& event, double factor) {
  const double period_ns = static_cast<double>(TimerPeriodNs(RateOf(event))) * factor;
  event.attr.sample_period = HasFrequency(event)
                                 ? std::max<std::uint64_t>(1, std::lround(kNsPerSecond / period_ns))
                                 : static_cast<std::uint64_t>(period_ns) + 1;
  if (event.settings.period_ns != 0) event.settings.period_ns = TimerPeriodNs(RateOf(event));
}

// Returns how long this thread did not run, each time that it was interrupted.
std::vector<std::uint64_t> MeasureGaps() {
  constexpr std::uint64_t kShortestGapNs = 700;  // above that of two readings of the clock
  constexpr std::uint64_t kLongestNs = 20'000'000;
  constexpr std::size_t kEnough = 32;
  std::vector<std::uint64_t> gaps;
  const std::uint64_t start_ns = MonotonicNs();
  for (std::uint64_t last_ns = start_ns; gaps.size() < kEnough;) {
    const std::uint64_t now_ns = MonotonicNs();
    if (now_ns - last_ns > kShortestGapNs) gaps.push_back(now_ns - last_ns);
    last_ns = now_ns;
    if (now_ns - start_ns > kLongestNs) break;
  }
  return gaps;
}

}  // namespace

std::optional<std::string> LimitTimers(std::span<PlannedEvent> events,
                                       const std::function<std::uint64_t()>& interrupt_ns) {
  double wanted = 0;
  for (const PlannedEvent& event : events) {
    if (event.cause == SampleCause::kTimer) wanted += ExpiriesOf(event);
  }
  if (wanted <= static_cast<double>(kCarriedRate)) return std::nullopt;
  const std::uint64_t cost_ns = interrupt_ns() + kProgramNs;
  const double carried =
      std::max(static_cast<double>(kCarriedRate),
               static_cast<double>(kNsPerSecond) / static_cast<double>(2 * cost_ns));
  if (wanted <= carried) return std::nullopt;
  for (PlannedEvent& event : events) {
    if (event.cause == SampleCause::kTimer) Slow(event, wanted / carried);
  }
  return fmt::format(
      "{:.0f} samples per second on each CPU are more than this machine can take, because each one "
      "costs about {} us: recorded at {:.0f}",
      wanted, cost_ns / 1000, carried);
}

std::uint64_t MeasureTimerInterrupt() {
  constexpr std::uint64_t kPeriodNs = 100'000;
  constexpr std::size_t kLeast = 8;
  perf_event_attr attr = {};
  attr.size = sizeof attr;
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_CPU_CLOCK;
  attr.sample_period = kPeriodNs;
  const UniqueFd timer(
      static_cast<int>(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!timer) return kUsualInterruptNs;
  std::vector<std::uint64_t> gaps = MeasureGaps();
  if (gaps.size() < kLeast) return kUsualInterruptNs;
  // Most gaps are of this timer; the longest are times in which other threads ran.
  const auto middle = gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2);
  std::ranges::nth_element(gaps, middle);
  return *middle;
}

}  // namespace perftape::record
