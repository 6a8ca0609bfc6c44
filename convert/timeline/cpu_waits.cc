// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/cpu_waits.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>

namespace perftape::timeline {
namespace {

// Returns `waited` without what was sampled; 0 if the rest could be chance: n samples stand for
// their periods with a deviation of about sqrt(n) of these.
std::int64_t NotRecorded(std::int64_t waited, std::int64_t sampled, std::int64_t period) {
  constexpr double kDeviations = 2;
  constexpr double kLeastShare = 0.1;  // a wakeup takes time on a free CPU, too
  const auto all = static_cast<double>(waited);
  const auto rest = all - static_cast<double>(sampled);
  const double chance = kDeviations * std::sqrt(all * static_cast<double>(period));
  return rest > std::max(chance, kLeastShare * all) ? waited - sampled : 0;
}

}  // namespace

std::vector<CpuWait> CpuWaitsOf(const CriticalPath& path) {
  std::vector<CpuWait> waits;
  for (const Step& step : path.steps) {
    if (step.reason != Reason::kRunnable) continue;
    waits.push_back({.time = step.time, .thread = step.thread, .sample = step.sample});
  }
  return waits;
}

std::vector<CpuWait> CpuWaitsOf(const Timeline& timeline) {
  std::vector<CpuWait> waits;
  for (std::uint32_t thread = 0; thread < timeline.threads().size(); ++thread) {
    for (const Interval& interval : timeline.threads()[thread].intervals) {
      if (interval.state != State::kRunnable) continue;
      waits.push_back({.time = interval.time, .thread = thread, .sample = interval.sample});
    }
  }
  return waits;
}

CpuUse UseOfCpus(const Timeline& timeline, std::span<const CpuWait> waits) {
  CpuUse use;
  std::int64_t sampled = 0, period = 0;
  std::map<std::string_view, std::int64_t> sums;
  const convert::Profile& profile = timeline.profile();
  for (const CpuWait& wait : waits) {
    // Without its CPU nothing is known of a wait.
    if (wait.sample == kNone || timeline.CpuOf(wait.sample) == kNone) continue;
    use.waited_ns += wait.time.length();
    const ThreadLine& line = timeline.threads()[wait.thread];
    for (const SampleAt& at : timeline.RanOn(timeline.CpuOf(wait.sample), wait.time)) {
      const convert::Sample& sample = profile.samples()[at.sample];
      const convert::Thread& other = profile[sample.thread];
      if (other.tid == line.tid) continue;
      sums[profile.text(other.comm)] += sample.period;
      sampled += sample.period;
      period = std::max(period, sample.period);
    }
  }
  for (const auto& [comm, ns] : sums) use.ran.push_back({.comm = std::string(comm), .ns = ns});
  std::ranges::stable_sort(use.ran, std::greater(), &RanInstead::ns);
  if (const auto clock = timeline.on_cpu_event()) {
    period = std::max(period, static_cast<std::int64_t>(profile[*clock].period));
    use.not_recorded_ns = NotRecorded(use.waited_ns, sampled, period);
  }
  return use;
}

}  // namespace perftape::timeline
