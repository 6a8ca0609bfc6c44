// SPDX-License-Identifier: Apache-2.0
#include "convert/diagnose/call_facts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <tuple>
#include <utility>

#include "formats/base/latency_buckets.h"
#include "formats/perfdata/latency_text.h"

namespace perftape::diagnose {
namespace {

using bundle::NotedLatency;

using ProbeKey = std::pair<Process, std::string>;  // a process and a probe
using CallsByKey = std::map<ProbeKey, Calls>;

// How many calls a process needs to be judged alone.
constexpr std::uint64_t kEnoughCalls = 20;

Calls& CallsAt(CallsByKey& all, const Process& process, const std::string& probe) {
  Calls& calls = all[{process, probe}];
  calls.probe = probe;
  calls.process = process;
  if (calls.pids.empty()) calls.pids = {process.pid};
  return calls;
}

void AddFailures(std::vector<FailedCalls>& failed, const FailedCalls& more) {
  for (FailedCalls& known : failed) {
    if (known.error != more.error || known.object != more.object) continue;
    known.count += more.count;
    return;
  }
  failed.push_back(more);
}

bool Keeps(const convert::FilterOptions& filter, const Process& process) {
  return (filter.pids.empty() || filter.pids.contains(process.pid)) &&
         (filter.comms.empty() || filter.comms.Match(process.comm)) &&
         (filter.cgroups.empty() || filter.cgroups.Match(process.cgroup));
}

void AddNoted(const NotedLatency& noted, const Facts& facts, const convert::FilterOptions& filter,
              CallsByKey& all) {
  Process process{.pid = noted.pid, .comm = noted.comm, .cgroup = noted.cgroup};
  if (process.cgroup.empty()) process.cgroup = CgroupOf(facts.cgroups, noted.pid);
  if (!Keeps(filter, process)) return;
  Calls& calls = CallsAt(all, process, noted.probe);
  calls.has_histogram = true;
  calls.count += noted.count;
  calls.sum_ns += noted.sum_ns;
  calls.max_ns = std::max(calls.max_ns, noted.max_ns);
  for (const bundle::NotedCount& bucket : noted.buckets) {
    if (bucket.number < 0) continue;
    const auto index =
        std::min(static_cast<std::uint64_t>(bucket.number), std::uint64_t{kLatencyBuckets - 1});
    calls.buckets[index] += bucket.count;
  }
  for (const bundle::NotedCount& error : noted.errors) {
    AddFailures(calls.failed, {.error = perfdata::LatencyErrorText(noted.probe, error.number),
                               .count = error.count});
  }
}

// The samples say which objects failed. The notes count the failures, so what both have is moved to
// the object.
void AddFailedSample(const SlowCall& call, Calls& calls) {
  if (call.error.empty()) return;
  if (calls.has_histogram) {
    const auto noted = std::ranges::find_if(calls.failed, [&](const FailedCalls& one) {
      return one.error == call.error && one.object.empty();
    });
    if (noted == calls.failed.end() || noted->count < call.count || call.object.empty()) return;
    noted->count -= call.count;
  }
  AddFailures(calls.failed, {.error = call.error, .object = call.object, .count = call.count});
}

// A process whose thread names differ is one process: it has the name that the notes have.
void AddSample(const SlowCall& call, std::size_t index, CallsByKey& all,
               const std::map<std::pair<std::uint32_t, std::string>, Process>& noted) {
  const auto known = noted.find({call.process.pid, call.probe});
  const Process& process = known == noted.end() ? call.process : known->second;
  Calls& calls = CallsAt(all, process, call.probe);
  calls.slow.push_back(index);
  AddFailedSample(call, calls);
  if (calls.has_histogram) return;
  const std::uint64_t each_ns = call.ns / call.count;
  calls.count += call.count;
  calls.sum_ns += call.ns;
  calls.max_ns = std::max(calls.max_ns, each_ns);
  calls.buckets[LatencyBucketOf(each_ns)] += call.count;
}

void Join(const Calls& one, Calls& into) {
  into.pids.insert(into.pids.end(), one.pids.begin(), one.pids.end());
  into.count += one.count;
  into.sum_ns += one.sum_ns;
  into.max_ns = std::max(into.max_ns, one.max_ns);
  into.has_histogram |= one.has_histogram;
  for (std::size_t i = 0; i < kLatencyBuckets; ++i) into.buckets[i] += one.buckets[i];
  for (const FailedCalls& failed : one.failed) AddFailures(into.failed, failed);
  into.slow.insert(into.slow.end(), one.slow.begin(), one.slow.end());
}

// Joins processes with few calls, unless there is only one of a name.
std::vector<Calls> JoinShortLived(CallsByKey all) {
  std::map<ProbeKey, std::vector<Calls>> small;
  std::vector<Calls> joined;
  for (auto& [key, calls] : all) {
    if (calls.count >= kEnoughCalls) {
      joined.push_back(std::move(calls));
      continue;
    }
    Process group = key.first;
    group.pid = 0;
    small[{group, key.second}].push_back(std::move(calls));
  }
  for (auto& [key, group] : small) {
    Calls sum = std::move(group.front());
    if (group.size() > 1) sum.process = key.first;
    for (const Calls& one : group | std::views::drop(1)) Join(one, sum);
    joined.push_back(std::move(sum));
  }
  std::ranges::sort(joined, {}, [](const Calls& calls) {
    return std::tuple(calls.process.cgroup, calls.process.comm, calls.process.pid, calls.probe);
  });
  return joined;
}

// Returns the times of the slow calls, the shortest first, if each is known.
std::vector<std::uint64_t> SlowTimes(const Calls& calls, const Facts& facts) {
  std::vector<std::uint64_t> times;
  for (const std::size_t index : calls.slow) {
    const SlowCall& call = facts.slow_calls[index];
    if (call.count != 1) return {};
    times.push_back(call.ns);
  }
  std::ranges::sort(times);
  return times;
}

// Returns a percentile. The slowest calls are known one by one, as far as the histogram has no
// other ones in their buckets.
double PercentileOf(const Calls& calls, const std::vector<std::uint64_t>& slow, double quantile) {
  const auto rank = static_cast<std::uint64_t>(
      std::max(std::ceil(quantile * static_cast<double>(calls.count)), 1.0));
  const std::uint64_t from_end = calls.count - std::min(rank, calls.count);  // 0: the slowest
  if (from_end < slow.size()) {
    const std::uint64_t ns = slow[slow.size() - 1 - from_end];
    const std::size_t bucket = LatencyBucketOf(ns);
    std::uint64_t above = 0, sampled = 0;  // calls in this bucket or above
    for (std::size_t i = bucket; i < kLatencyBuckets; ++i) above += calls.buckets[i];
    for (const std::uint64_t time : slow) sampled += LatencyBucketOf(time) >= bucket ? 1 : 0;
    if (above == sampled) return static_cast<double>(ns);
  }
  return LatencyQuantile(calls.buckets, quantile, calls.max_ns);
}

void Complete(Calls& calls, const Facts& facts) {
  std::erase_if(calls.failed, [](const FailedCalls& one) { return one.count == 0; });
  std::ranges::stable_sort(calls.failed, std::greater<>(), &FailedCalls::count);
  std::ranges::sort(calls.slow);  // facts.slow_calls has the slowest first
  if (!calls.has_histogram) return;
  const std::vector<std::uint64_t> slow = SlowTimes(calls, facts);
  calls.p50_ns = PercentileOf(calls, slow, 0.50);
  calls.p95_ns = PercentileOf(calls, slow, 0.95);
  calls.p99_ns = PercentileOf(calls, slow, 0.99);
  const auto count = static_cast<double>(std::max<std::uint64_t>(calls.count, 1));
  calls.judged_p99_ns = PercentileOf(calls, slow, std::min(0.99, (count - 1) / count));
}

}  // namespace

std::vector<Calls> CallsOf(const Facts& facts, const std::vector<RecordedInput>& inputs,
                           const convert::FilterOptions& filter) {
  CallsByKey all;
  std::map<std::pair<std::uint32_t, std::string>, Process> noted;
  for (const RecordedInput& input : inputs) {
    if (!input.notes) continue;
    for (const NotedLatency& latency : input.notes->latency) AddNoted(latency, facts, filter, all);
  }
  for (const auto& [key, calls] : all) noted.insert({{key.first.pid, key.second}, key.first});
  for (std::size_t i = 0; i < facts.slow_calls.size(); ++i) {
    AddSample(facts.slow_calls[i], i, all, noted);
  }
  std::vector<Calls> calls = JoinShortLived(std::move(all));
  for (Calls& one : calls) Complete(one, facts);
  return calls;
}

}  // namespace perftape::diagnose
