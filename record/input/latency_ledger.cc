// SPDX-License-Identifier: Apache-2.0
#include "record/input/latency_ledger.h"

#include <linux/types.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "bpf/wire.h"
#include "formats/perfdata/latency_probes.h"

namespace perftape::record {
namespace {

// A sample that sums calls. Its raw record has no error and no object, but a text, which is empty.
// perf script crashes if common_type is not that of the event.
struct FastCallsMessage {
  wire_sample sample;
  std::byte fields[perfdata::kLatencyTextOffset];
  std::uint64_t text;
};
constexpr std::uint32_t kEmptyText = perfdata::kLatencyTextOffset | 1U << 16;

std::string CommOf(const wire_latency& histogram) {
  const std::string_view comm(histogram.comm, sizeof histogram.comm);
  return std::string(comm.substr(0, comm.find('\0')));
}

}  // namespace

LatencyLedger::LatencyLedger(std::span<const PlannedEvent> planned, std::size_t most)
    : most_(most) {
  for (std::uint32_t number = 0; const PlannedEvent& event : planned) {
    if (event.cause == SampleCause::kLatency) {
      probes_.push_back({.event = number, .id = event.settings.id, .options = event.latency});
    }
    ++number;
  }
}

LatencyLedger::Probe* LatencyLedger::ProbeOf(std::uint32_t event) {
  const auto found = std::ranges::find(probes_, event, &Probe::event);
  return found != probes_.end() ? &*found : nullptr;
}

void LatencyLedger::Rename(std::uint32_t pid, std::string_view comm) {
  if (names_.size() < most_ || names_.contains(pid)) names_[pid] = comm;
}

void LatencyLedger::Add(std::span<const LatencyCounts> drained) {
  for (const auto& [key, histogram] : drained) {
    Probe* const probe = ProbeOf(key.event);
    if (probe == nullptr) continue;
    Key of{key.event, key.tgid, key.cgroup};
    if (calls_.size() >= most_ && !calls_.contains(of)) {
      probe->other_calls += histogram.count;
      of = {.event = key.event};
    }
    Calls& calls = calls_[of];
    if (of.tgid != 0) calls.comm = CommOf(histogram);
    calls.cpu = static_cast<std::uint16_t>(key.cpu);
    calls.count += histogram.count;
    calls.sum_ns += histogram.sum_ns;
    calls.max_ns = std::max<std::uint64_t>(calls.max_ns, histogram.max_ns);
    calls.fast_ns += histogram.fast_ns;
    for (const wire_latency_error& error : histogram.errors) {
      if (error.count > 0) calls.errors[static_cast<std::int64_t>(error.code)] += error.count;
    }
    probe->other_errors += histogram.other_errors;
    LatencyInterval& interval = probe->interval;
    interval.count += histogram.count;
    interval.sum_ns += histogram.sum_ns;
    interval.max_ns = std::max<std::uint64_t>(interval.max_ns, histogram.max_ns);
    interval.errors += histogram.other_errors;
    for (const wire_latency_error& error : histogram.errors) interval.errors += error.count;
    for (std::size_t bucket = 0; bucket < calls.buckets.size(); ++bucket) {
      calls.buckets[bucket] += histogram.buckets[bucket];
      interval.buckets[bucket] += histogram.buckets[bucket];
    }
  }
}

void LatencyLedger::SetMissed(const std::function<std::uint64_t(std::uint32_t)>& missed_of) {
  for (Probe& probe : probes_) probe.missed = missed_of(probe.event);
}

void LatencyLedger::SumUpFastCalls(std::uint64_t time_ns, const std::function<void(Bytes)>& send) {
  for (auto& [key, calls] : calls_) {
    if (calls.fast_ns == 0) continue;
    FastCallsMessage message = {};
    message.sample = {.header = {.type = WIRE_SAMPLE,
                                 .cpu = calls.cpu,
                                 .size = sizeof message,
                                 .time_ns = time_ns},
                      .ip = WIRE_FAST_CALLS_IP,
                      .period = std::exchange(calls.fast_ns, 0),
                      .pid = key.tgid,
                      .tid = key.tgid,
                      .kernel_frames = 0,
                      .user_frames = 0,
                      .event = static_cast<__u16>(key.event),
                      .mode = WIRE_MODE_KERNEL,
                      .flags = 0,
                      .cgroup = key.cgroup,
                      .walked_ns = 0};
    std::memcpy(message.fields, &ProbeOf(key.event)->id, sizeof(std::uint16_t));
    std::memcpy(message.fields + perfdata::kFileField.offset, &kEmptyText, sizeof kEmptyText);
    send(std::as_bytes(std::span(&message, 1)));
  }
}

std::vector<LatencyInterval> LatencyLedger::NextInterval() {
  std::vector<LatencyInterval> all;
  for (Probe& probe : probes_) {
    all.push_back(std::exchange(probe.interval, {}));
    all.back().probe = probe.options.probe;
  }
  return all;
}

LatencySummary LatencyLedger::Summarize(const std::function<std::string(std::uint64_t)>& path_of,
                                        std::span<const UncountedCalls> uncounted) const {
  LatencySummary summary;
  for (const Probe& probe : probes_) {
    const LatencyOptions& options = probe.options;
    summary.min.push_back({options.probe, options.min_ns, options.samples_errors});
    const auto add_lost = [&](const char* cause, std::uint64_t calls) {
      if (calls > 0) summary.lost.push_back({options.probe, cause, calls});
    };
    const UncountedCalls calls_lost =
        probe.event < uncounted.size() ? uncounted[probe.event] : UncountedCalls{};
    add_lost(bundle::kNoHistogram, calls_lost.no_histogram);
    add_lost(bundle::kInProgress, calls_lost.no_begin);
    add_lost(bundle::kMissedRuns, probe.missed);
    add_lost("error_codes", probe.other_errors);
    add_lost("processes", probe.other_calls);
    for (auto at = calls_.lower_bound({.event = probe.event});
         at != calls_.end() && at->first.event == probe.event; ++at) {
      const auto& [key, calls] = *at;
      const auto name = names_.find(key.tgid);
      bundle::NotedLatency& noted = summary.calls.emplace_back(
          bundle::NotedLatency{.probe = options.probe,
                               .pid = key.tgid,
                               .comm = name != names_.end() ? name->second : calls.comm,
                               .cgroup = key.cgroup != 0 ? path_of(key.cgroup) : "",
                               .count = calls.count,
                               .sum_ns = calls.sum_ns,
                               .max_ns = calls.max_ns});
      if (perfdata::FindLatencyProbe(options.probe)->kind == perfdata::LatencyKind::kCounted) {
        continue;
      }
      for (const auto& [code, count] : calls.errors) noted.errors.push_back({code, count});
      for (std::size_t index = 0; index < calls.buckets.size(); ++index) {
        if (calls.buckets[index] == 0) continue;
        noted.buckets.push_back({static_cast<std::int64_t>(index), calls.buckets[index]});
      }
    }
  }
  return summary;
}

}  // namespace perftape::record
