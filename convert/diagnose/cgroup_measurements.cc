// SPDX-License-Identifier: Apache-2.0
#include "convert/diagnose/cgroup_measurements.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "formats/base/counted.h"
#include "formats/base/duration.h"

namespace perftape::diagnose {
namespace {

using bundle::CgroupUse;
using bundle::NotedCgroup;
using bundle::NotedIoLimit;

double Double(std::uint64_t value) {
  return static_cast<double>(value);
}

// What was added to a counter between the two readings. A counter that is lower is that of another
// cgroup of the same name.
std::uint64_t Since(const NotedCgroup& cgroup, std::uint64_t CgroupUse::*member) {
  const std::uint64_t first = cgroup.first.*member, last = cgroup.last.*member;
  return last < first ? last : last - first;
}

double SecondsOf(const NotedCgroup& cgroup) {
  return Double(Since(cgroup, &CgroupUse::time_ns)) / kNsPerSecond;
}

double SecondsUntilPeak(const NotedCgroup& cgroup) {
  const std::uint64_t first_ns = cgroup.first.time_ns;
  return Double(cgroup.memory_peak_ns - std::min(first_ns, cgroup.memory_peak_ns)) / kNsPerSecond;
}

std::string MegabytesText(std::uint64_t bytes) {
  return fmt::format("{:.1f} MiB", Double(bytes) / (1 << 20));
}

// A value and its text; nothing for a cgroup without the limit.
using Measured = std::optional<Measurement>;

Measured ThrottledShare(const Rule& rule, const NotedCgroup& cgroup) {
  const std::uint64_t periods = Since(cgroup, &CgroupUse::periods);
  if (cgroup.cpu_quota_us == 0 || cgroup.cpu_period_us == 0 || periods < rule.least) return {};
  const std::uint64_t throttled = Since(cgroup, &CgroupUse::throttled_periods);
  return Measurement{
      .value = 100 * Double(throttled) / Double(periods),
      .detail = fmt::format(
          "{} of {}, {} on all CPUs, limit {:.2f} CPUs", throttled, periods,
          FigureText(Unit::kNanoseconds, Double(Since(cgroup, &CgroupUse::throttled_ns))),
          Double(cgroup.cpu_quota_us) / Double(cgroup.cpu_period_us))};
}

Measured CpuShare(const Rule& /*rule*/, const NotedCgroup& cgroup) {
  const double seconds = SecondsOf(cgroup);
  if (cgroup.cpu_quota_us == 0 || cgroup.cpu_period_us == 0 || seconds <= 0) return {};
  if (cgroup.last.cpu_ns == 0) return {};  // version 1 counts it in another hierarchy
  const double cpus = Double(cgroup.cpu_quota_us) / Double(cgroup.cpu_period_us);
  const double used = Double(Since(cgroup, &CgroupUse::cpu_ns)) / kNsPerSecond / seconds;
  return Measurement{.value = 100 * used / cpus,
                     .detail = fmt::format("{:.2f} of {:.2f} CPUs", used, cpus)};
}

Measured MemoryShare(const Rule& /*rule*/, const NotedCgroup& cgroup) {
  if (cgroup.memory_limit == 0) return {};
  return Measurement{
      .value = 100 * Double(cgroup.memory_peak) / Double(cgroup.memory_limit),
      .detail = fmt::format("{} of {} at the peak", MegabytesText(cgroup.memory_peak),
                            MegabytesText(cgroup.memory_limit))};
}

// Memory that grew by a tenth of the limit, up to the end, or until its processes ended: the peak
// is in the second half of the time.
Measured MemoryGrowth(const Rule& /*rule*/, const NotedCgroup& cgroup) {
  if (cgroup.memory_limit == 0) return {};
  constexpr double kLeastGrowth = 0.1;
  const double limit = Double(cgroup.memory_limit);
  const double first = Double(cgroup.first.memory_bytes);
  // Between two readings, a process may have reached the limit, been killed, and so freed it again.
  const bool was_killed =
      Since(cgroup, &CgroupUse::oom_kills) > 0 && Since(cgroup, &CgroupUse::memory_failures) > 0;
  const double peak = was_killed ? limit : Double(cgroup.memory_peak);
  const double seconds = was_killed ? SecondsOf(cgroup) : SecondsUntilPeak(cgroup);
  Measurement measurement;
  if (peak - first < kLeastGrowth * limit || seconds < SecondsOf(cgroup) / 2) return measurement;
  measurement.value = 100 * peak / limit;
  measurement.detail = fmt::format(
      "from {} to {} of {} in {:.1f} s", MegabytesText(cgroup.first.memory_bytes),
      MegabytesText(static_cast<std::uint64_t>(peak)), MegabytesText(cgroup.memory_limit), seconds);
  if (peak < limit && seconds > 0) {
    measurement.detail +=
        fmt::format(", full in {:.0f} s at this rate", (limit - peak) / ((peak - first) / seconds));
  }
  return measurement;
}

Measured MemoryFull(const Rule& /*rule*/, const NotedCgroup& cgroup) {
  if (cgroup.memory_limit == 0) return {};
  return Measurement{.value = Double(Since(cgroup, &CgroupUse::memory_failures)),
                     .detail = "limit " + MegabytesText(cgroup.memory_limit)};
}

// The limit of a device of which most was used.
Measured IoShare(const Rule& /*rule*/, const NotedCgroup& cgroup) {
  const double seconds = SecondsOf(cgroup);
  if (seconds <= 0) return {};
  Measured most;
  for (const NotedIoLimit& limit : cgroup.io_limits) {
    if (limit.limit == 0) continue;
    const double done = Double(limit.last - std::min(limit.last, limit.first));
    const double rate = std::max(done / seconds, Double(limit.peak));
    const double share = 100 * rate / Double(limit.limit);
    if (most && most->value >= share) continue;
    most = Measurement{.object = "device " + limit.device,
                       .value = share,
                       .detail = fmt::format("{:.0f} of {} {}", rate, limit.limit, limit.kind)};
  }
  return most;
}

Measured TaskShare(const Rule& /*rule*/, const NotedCgroup& cgroup) {
  if (cgroup.task_limit == 0) return {};
  const std::uint64_t tasks = std::max(cgroup.first.tasks, cgroup.last.tasks);
  return Measurement{.value = 100 * Double(tasks) / Double(cgroup.task_limit),
                     .detail = fmt::format("{} of {}", tasks, cgroup.task_limit)};
}

Measured TasksRefused(const Rule& /*rule*/, const NotedCgroup& cgroup) {
  if (cgroup.task_limit == 0) return {};
  return Measurement{.value = Double(Since(cgroup, &CgroupUse::tasks_refused)),
                     .detail = fmt::format("limit {}", cgroup.task_limit)};
}

struct CgroupFigure {
  Figure figure;
  Measured (*measure)(const Rule& rule, const NotedCgroup& cgroup);
};
constexpr CgroupFigure kFigures[] = {
    {Figure::kThrottledShare, &ThrottledShare}, {Figure::kCpuShare, &CpuShare},
    {Figure::kMemoryShare, &MemoryShare},       {Figure::kMemoryGrowth, &MemoryGrowth},
    {Figure::kMemoryFull, &MemoryFull},         {Figure::kIoShare, &IoShare},
    {Figure::kTaskShare, &TaskShare},           {Figure::kTasksRefused, &TasksRefused},
};

// Whether a cgroup below this one has the same kills: the counters of version 2 are sums.
bool IsCountedBelow(const NotedCgroup& cgroup, const Facts& facts) {
  const std::uint64_t kills = Since(cgroup, &CgroupUse::oom_kills);
  return std::ranges::any_of(facts.cgroups, [&](const NotedCgroup& other) {
    return other.path != cgroup.path && IsWithin(other.path, cgroup.path) &&
           Since(other, &CgroupUse::oom_kills) == kills;
  });
}

// All processes of a cgroup.
Process ProcessesOf(const Facts& facts, const NotedCgroup& cgroup) {
  return {.cgroup = cgroup.path, .container = ContainerOf(facts, cgroup.path)};
}

// The kills that the counters of cgroups have, and those that tracepoints have beyond that.
std::vector<Measurement> MeasureOomKills(const Facts& facts) {
  std::vector<Measurement> all;
  for (const NotedCgroup& cgroup : facts.cgroups) {
    const std::uint64_t kills = Since(cgroup, &CgroupUse::oom_kills);
    if (kills > 0 && IsCountedBelow(cgroup, facts)) continue;
    Measurement measurement{.value = Double(kills)};
    measurement.process = ProcessesOf(facts, cgroup);
    for (const OomKill& kill : facts.oom_kills) {
      if (kill.process.cgroup != cgroup.path) continue;
      if (!measurement.detail.empty()) measurement.detail += ", ";
      measurement.detail += fmt::format("{} ({})", kill.process.comm, kill.process.pid);
    }
    all.push_back(std::move(measurement));
  }
  for (const OomKill& kill : facts.oom_kills) {
    const bool is_counted = std::ranges::any_of(all, [&](const Measurement& measurement) {
      return measurement.value > 0 && measurement.process.cgroup == kill.process.cgroup;
    });
    if (is_counted) continue;
    all.push_back({.process = kill.process,
                   .value = 1,
                   .detail = fmt::format("{} ({})", kill.process.comm, kill.process.pid)});
  }
  if (all.empty() && facts.events.contains("oom:mark_victim")) all.emplace_back();
  return all;
}

}  // namespace

std::vector<Measurement> MeasureCgroups(const Rule& rule, const Facts& facts) {
  if (rule.figure == Figure::kOomKills) return MeasureOomKills(facts);
  const auto* const figure = std::ranges::find(kFigures, rule.figure, &CgroupFigure::figure);
  std::vector<Measurement> all;
  for (const NotedCgroup& cgroup : facts.cgroups) {
    Measured measured = figure->measure(rule, cgroup);
    if (!measured) continue;
    measured->process = ProcessesOf(facts, cgroup);
    all.push_back(*std::move(measured));
  }
  return all;
}

}  // namespace perftape::diagnose
