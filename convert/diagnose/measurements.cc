// SPDX-License-Identifier: Apache-2.0
// Figures of calls. Those of cgroups are in cgroup_measurements.cc.
#include "convert/diagnose/measurements.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "convert/diagnose/cgroup_measurements.h"
#include "convert/diagnose/objects.h"
#include "formats/base/counted.h"
#include "formats/base/duration.h"

namespace perftape::diagnose {
namespace {

constexpr std::size_t kMostExamples = 3;

double PercentOf(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

// Whether a list of names, with blanks between them, has a word.
bool HasWord(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

bool IsErrorOf(const Rule& rule, std::string_view error) {
  return rule.errors.starts_with('!') ? !HasWord(rule.errors.substr(1), error)
                                      : HasWord(rule.errors, error);
}

Measurement MeasurementOf(const Calls& calls) {
  return {.process = calls.process, .pids = calls.pids};
}

// Adds the slowest of `calls` that `is_example` chooses, and the object of the first.
template <class IsExample>
void AddExamples(const Calls& calls, const Facts& facts, IsExample is_example,
                 Measurement& measurement) {
  for (const std::size_t index : calls.slow) {
    if (measurement.slow_calls.size() == kMostExamples) break;
    const SlowCall& call = facts.slow_calls[index];
    if (!is_example(call)) continue;
    measurement.slow_calls.push_back(index);
    if (measurement.object.empty()) measurement.object = call.object;
  }
}

// Calls that failed with an error of the rule.
struct Failures {
  std::uint64_t count = 0;
  FailedCalls most = {};  // with an object, if one is known
};

Failures FailuresOf(const Rule& rule, const Calls& calls) {
  Failures failures;
  for (const FailedCalls& failed : calls.failed) {
    if (!IsErrorOf(rule, failed.error)) continue;
    failures.count += failed.count;
    const bool is_better = failed.object.empty() == failures.most.object.empty()
                               ? failed.count > failures.most.count
                               : failures.most.object.empty();
    if (is_better) failures.most = failed;
  }
  return failures;
}

void SetFailures(const Rule& rule, const Failures& failures, const Calls& calls, const Facts& facts,
                 Measurement& measurement) {
  measurement.object = failures.most.object;
  measurement.detail =
      fmt::format("{} of {} of {}", failures.count, Counted(calls.count, "call"), calls.probe);
  if (!failures.most.error.empty()) {
    measurement.detail += fmt::format(", mostly {}", failures.most.error);
  }
  AddExamples(
      calls, facts,
      [&](const SlowCall& call) { return !call.error.empty() && IsErrorOf(rule, call.error); },
      measurement);
}

// A failed call may be one of several probes: of write, and of all system calls. The probe with the
// most of them counts.
std::vector<Measurement> CountErrors(const Rule& rule, const Facts& facts) {
  std::map<Process, std::pair<const Calls*, Failures>> most;
  for (const Calls& calls : facts.calls) {
    Failures failures = FailuresOf(rule, calls);
    auto& [known, counted] = most[calls.process];
    if (known != nullptr && failures.count <= counted.count) continue;
    known = &calls;
    counted = std::move(failures);
  }
  std::vector<Measurement> all;
  for (const auto& [process, found] : most) {
    const auto& [calls, failures] = found;
    Measurement measurement = MeasurementOf(*calls);
    measurement.value = static_cast<double>(failures.count);
    if (failures.count > 0) SetFailures(rule, failures, *calls, facts, measurement);
    all.push_back(std::move(measurement));
  }
  return all;
}

void MeasureErrors(const Rule& rule, const Calls& calls, const Facts& facts,
                   Measurement& measurement) {
  const Failures failures = FailuresOf(rule, calls);
  measurement.value =
      PercentOf(static_cast<double>(failures.count), static_cast<double>(calls.count));
  if (failures.count > 0) SetFailures(rule, failures, calls, facts, measurement);
}

void MeasureP99(const Calls& calls, const Facts& facts, Measurement& measurement) {
  measurement.value = calls.judged_p99_ns;
  measurement.detail = fmt::format("{}, median {}", Counted(calls.count, "call"),
                                   FigureText(Unit::kNanoseconds, calls.p50_ns));
  AddExamples(
      calls, facts, [](const SlowCall&) { return true; }, measurement);
}

void MeasureSlowShare(const Calls& calls, const Facts& facts, Measurement& measurement) {
  std::uint64_t slow = 0;
  for (std::size_t i = LatencyBucketOf(kSlowCallNs) + 1; i < kLatencyBuckets; ++i) {
    slow += calls.buckets[i];
  }
  measurement.value = PercentOf(static_cast<double>(slow), static_cast<double>(calls.count));
  measurement.detail = fmt::format("{} of {}", slow, calls.count);
  AddExamples(
      calls, facts, [](const SlowCall&) { return true; }, measurement);
}

// The time of some slow calls, as a share of the recording. It may exceed 100 percent, because
// several threads wait at once.
template <class IsCounted>
void MeasureTime(const Calls& calls, const Facts& facts, IsCounted is_counted,
                 Measurement& measurement) {
  double ns = 0;
  std::uint64_t count = 0;
  for (const std::size_t index : calls.slow) {
    const SlowCall& call = facts.slow_calls[index];
    if (!is_counted(call)) continue;
    ns += static_cast<double>(call.ns);
    count += call.count;
  }
  measurement.value = PercentOf(ns, facts.seconds * kNsPerSecond);
  measurement.detail =
      fmt::format("{} in {}", FigureText(Unit::kNanoseconds, ns), Counted(count, "slow call"));
  AddExamples(calls, facts, is_counted, measurement);
}

void MeasureCalls(const Rule& rule, const Calls& calls, const Facts& facts,
                  Measurement& measurement) {
  switch (rule.figure) {
    case Figure::kP99:
      return MeasureP99(calls, facts, measurement);
    case Figure::kSlowShare:
      return MeasureSlowShare(calls, facts, measurement);
    case Figure::kErrorShare:
      return MeasureErrors(rule, calls, facts, measurement);
    case Figure::kRate:
      measurement.value = facts.seconds > 0 ? static_cast<double>(calls.count) / facts.seconds : 0;
      measurement.detail = fmt::format("{} in all", calls.count);
      return;
    case Figure::kTimeShare:
      measurement.value =
          PercentOf(static_cast<double>(calls.sum_ns), facts.seconds * kNsPerSecond);
      measurement.detail =
          fmt::format("{} in {}", FigureText(Unit::kNanoseconds, static_cast<double>(calls.sum_ns)),
                      Counted(calls.count, "wait"));
      return;
    case Figure::kFileTimeShare:
      return MeasureTime(
          calls, facts, [](const SlowCall& call) { return IsOrdinaryFile(call.object); },
          measurement);
    default:
      return MeasureTime(
          calls, facts, [](const SlowCall& call) { return call.waits_for_lock; }, measurement);
  }
}

// Percentiles and shares of all calls need a histogram: without one, only slow calls are known.
bool NeedsHistogram(Figure figure) {
  return figure == Figure::kP99 || figure == Figure::kSlowShare || figure == Figure::kErrorShare ||
         figure == Figure::kRate || figure == Figure::kTimeShare;
}

// Calls that take the time T in all are T / (the length of the recording) calls at any time. While
// threads wait for a CPU, others run on all of them.
std::vector<Measurement> MeasureWaiting(const Rule& rule, const Facts& facts) {
  double ns = 0;
  std::uint64_t count = 0;
  for (const Calls& calls : facts.calls) {
    if (calls.probe != rule.probe || !calls.has_histogram) continue;
    ns += static_cast<double>(calls.sum_ns);
    count += calls.count;
  }
  if (count < rule.least || facts.cpus == 0 || facts.seconds <= 0) return {};
  const double waiting = ns / (facts.seconds * kNsPerSecond);
  return {{.value = PercentOf(waiting, facts.cpus),
           .detail = fmt::format("{:.1f} runnable threads on {} on average", waiting + facts.cpus,
                                 Counted(facts.cpus, "CPU"))}};
}

std::vector<Measurement> MeasurePeers(const Rule& rule, const Facts& facts) {
  const auto member = rule.figure == Figure::kResetsReceived ? &Peer::resets_received
                      : rule.figure == Figure::kResetsSent   ? &Peer::resets_sent
                                                             : &Peer::retransmissions;
  std::vector<Measurement> all;
  for (const Peer& peer : facts.peers) {
    std::uint64_t count = peer.*member;
    // A refused connection is answered by a reset, too, and is counted as a failed one.
    for (const Calls& calls : facts.calls) {
      if (rule.figure != Figure::kResetsReceived) break;
      for (const FailedCalls& failed : calls.failed) {
        const bool is_refusal = failed.error == "ECONNREFUSED" && failed.object == peer.address &&
                                calls.probe == "tcp-connect";
        if (is_refusal) count -= std::min(count, failed.count);
      }
    }
    all.push_back(
        {.object = peer.address,
         .value = static_cast<double>(count),
         .detail = fmt::format("{}, {}, {}", Counted(peer.retransmissions, "retransmission"),
                               Counted(peer.resets_received, "reset") + " received",
                               Counted(peer.resets_sent, "reset") + " sent")});
  }
  return all;
}

}  // namespace

std::vector<Measurement> Measure(const Rule& rule, const Facts& facts) {
  if (rule.IsOfCgroups()) return MeasureCgroups(rule, facts);
  if (rule.IsOfPeers()) return MeasurePeers(rule, facts);
  if (rule.figure == Figure::kErrorCount) return CountErrors(rule, facts);
  if (rule.figure == Figure::kWaitingShare) return MeasureWaiting(rule, facts);
  std::vector<Measurement> all;
  for (const Calls& calls : facts.calls) {
    if (calls.probe != rule.probe || calls.count < rule.least) continue;
    if (NeedsHistogram(rule.figure) && !calls.has_histogram) continue;
    MeasureCalls(rule, calls, facts, all.emplace_back(MeasurementOf(calls)));
  }
  return all;
}

}  // namespace perftape::diagnose
