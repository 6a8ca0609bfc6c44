// SPDX-License-Identifier: Apache-2.0
#include "record/output/notes_by_file.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/base/latency_buckets.h"

namespace perftape::record {
namespace {

using bundle::NotedCgroup;
using bundle::NotedChains;
using bundle::NotedCount;
using bundle::NotedIoLimit;
using bundle::NotedLatency;
using bundle::NotedLoss;
using bundle::NotedPauses;
using bundle::NotedThrottling;
using bundle::RecordingNotes;

// Subtracts from each count that of the same event, CPU and cause before.
template <class Noted, class Same>
std::vector<Noted> Since(const std::vector<Noted>& before, const std::vector<Noted>& now,
                         Same same) {
  std::vector<Noted> news;
  for (Noted noted : now) {
    const auto old =
        std::ranges::find_if(before, [&](const Noted& one) { return same(one, noted); });
    if (old != before.end()) noted.count -= std::min(noted.count, old->count);
    if (noted.count > 0) news.push_back(std::move(noted));
  }
  return news;
}

bool IsSameLatencyLoss(const bundle::NotedLatencyLoss& one, const bundle::NotedLatencyLoss& other) {
  return one.probe == other.probe && one.cause == other.cause;
}

void Subtract(const std::vector<NotedCount>& before, std::vector<NotedCount>& counts) {
  for (NotedCount& count : counts) {
    const auto old = std::ranges::find(before, count.number, &NotedCount::number);
    if (old != before.end()) count.count -= std::min(count.count, old->count);
  }
  std::erase_if(counts, [](const NotedCount& count) { return count.count == 0; });
}

// The longest call of a file is known only if it is the longest so far. Otherwise it is in the
// highest bucket.
void Subtract(const NotedLatency& before, NotedLatency& latency) {
  const bool is_new_max = latency.max_ns > before.max_ns;
  latency.count -= std::min(latency.count, before.count);
  latency.sum_ns -= std::min(latency.sum_ns, before.sum_ns);
  Subtract(before.errors, latency.errors);
  Subtract(before.buckets, latency.buckets);
  if (is_new_max || latency.buckets.empty()) return;
  const auto highest = static_cast<std::size_t>(latency.buckets.back().number);
  latency.max_ns = std::min(latency.max_ns, LatencyBucketEnd(highest) - 1);
}

std::vector<NotedLatency> LatencySince(const std::vector<NotedLatency>& before,
                                       const std::vector<NotedLatency>& now) {
  const auto key = [](const NotedLatency& of) { return std::tie(of.probe, of.pid, of.cgroup); };
  std::map<std::tuple<std::string_view, std::uint32_t, std::string_view>, const NotedLatency*> old;
  for (const NotedLatency& of : before) old.emplace(key(of), &of);
  std::vector<NotedLatency> news;
  for (const NotedLatency& of : now) {
    NotedLatency& latency = news.emplace_back(of);
    if (const auto found = old.find(key(of)); found != old.end()) Subtract(*found->second, latency);
    if (latency.count == 0) news.pop_back();
  }
  return news;
}

bool IsSameLoss(const NotedLoss& one, const NotedLoss& other) {
  return one.event == other.event && one.cpu == other.cpu && one.cause == other.cause;
}

bool IsSameEnd(const NotedChains& one, const NotedChains& other) {
  return one.event == other.event && one.end == other.end;
}

std::vector<NotedThrottling> ThrottlingSince(const std::vector<NotedThrottling>& before,
                                             const std::vector<NotedThrottling>& now) {
  std::vector<NotedThrottling> news;
  for (NotedThrottling cpu : now) {
    for (const NotedThrottling& old : before) {
      if (old.event != cpu.event || old.cpu != cpu.cpu) continue;
      cpu.times -= std::min(cpu.times, old.times);
      cpu.ns -= std::min(cpu.ns, old.ns);
    }
    if (cpu.times > 0 || cpu.ns > 0) news.push_back(std::move(cpu));
  }
  return news;
}

// The part of the pauses that is in the file. If not all of them are listed, their numbers are the
// difference to those before.
void RemoveEarlier(const RecordingNotes& before, NotedPauses& of) {
  const bool are_all_listed = of.pauses.size() == of.times;
  std::erase_if(of.pauses,
                [&](const bundle::NotedPause& pause) { return pause.until_ns <= before.end_ns; });
  if (!of.pauses.empty()) {
    of.pauses.front().from_ns = std::max(of.pauses.front().from_ns, before.end_ns);
  }
  if (are_all_listed) {
    of.times = of.pauses.size();
    of.off_ns = 0;
    for (const bundle::NotedPause& pause : of.pauses) of.off_ns += pause.until_ns - pause.from_ns;
    return;
  }
  const auto old = std::ranges::find(before.pauses, of.event, &NotedPauses::event);
  if (old == before.pauses.end()) return;
  of.times -= std::min(of.times, old->times);
  of.off_ns -= std::min(of.off_ns, old->off_ns);
}

// A file begins where the one before ended. Peaks are those of the recording so far.
std::vector<NotedCgroup> CgroupsSince(const std::vector<NotedCgroup>& before,
                                      std::vector<NotedCgroup> now) {
  for (NotedCgroup& cgroup : now) {
    const auto old = std::ranges::find(before, cgroup.path, &NotedCgroup::path);
    if (old == before.end()) continue;
    cgroup.first = old->last;
    for (NotedIoLimit& limit : cgroup.io_limits) {
      for (const NotedIoLimit& one : old->io_limits) {
        if (one.device == limit.device && one.kind == limit.kind) limit.first = one.last;
      }
    }
  }
  return now;
}

}  // namespace

RecordingNotes NotesByFile::Next(const RecordingNotes& so_far) {
  RecordingNotes file = so_far;
  if (before_.end_ns != 0) file.start_ns = before_.end_ns;
  file.samples -= std::min(file.samples, before_.samples);
  file.aggregated -= std::min(file.aggregated, before_.aggregated);
  file.lost = Since(before_.lost, so_far.lost, &IsSameLoss);
  file.lost_processes = Since(before_.lost_processes, so_far.lost_processes, &IsSameLoss);
  file.chains = Since(before_.chains, so_far.chains, &IsSameEnd);
  file.latency = LatencySince(before_.latency, so_far.latency);
  file.latency_lost = Since(before_.latency_lost, so_far.latency_lost, &IsSameLatencyLoss);
  file.throttled = ThrottlingSince(before_.throttled, so_far.throttled);
  file.cgroups = CgroupsSince(before_.cgroups, so_far.cgroups);
  for (NotedPauses& of : file.pauses) RemoveEarlier(before_, of);
  std::erase_if(file.pauses, [](const NotedPauses& of) { return of.off_ns == 0; });
  std::erase_if(file.absences, [this](const bundle::NotedAbsence& absence) {
    return std::ranges::find(before_.absences, absence) != before_.absences.end() &&
           absence.until_ns.has_value();
  });
  std::erase_if(file.processes, [&](const bundle::NotedProcess& process) {
    return process.until_ns && *process.until_ns < file.start_ns;
  });
  if (before_.rates.size() > 1) {
    file.rates.erase(
        file.rates.begin(),
        std::prev(file.rates.begin() + static_cast<std::ptrdiff_t>(before_.rates.size())));
  }
  before_ = so_far;
  return file;
}

}  // namespace perftape::record
