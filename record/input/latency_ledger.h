// SPDX-License-Identifier: Apache-2.0
// All calls of latency probes, from the histograms of the kernel. They become notes of the
// recording. The calls that made no sample are summed up, and the sums become samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/latency_buckets.h"
#include "formats/bundle/recording_notes.h"
#include "record/bpf/sample_source.h"
#include "record/events/event_plan.h"

namespace perftape::record {

// What a recording says about its latency probes.
struct LatencySummary {
  std::vector<bundle::NotedLatency> calls = {};
  std::vector<bundle::NotedLatencyMin> min = {};  // of each probe that is recorded
  std::vector<bundle::NotedLatencyLoss> lost = {};

  bool operator==(const LatencySummary&) const = default;
};

// Calls of a probe that the programs could not count.
struct UncountedCalls {
  std::uint64_t no_histogram = 0;  // there was no room for one
  std::uint64_t no_begin = 0;      // too many calls were in progress when they began
};

// The calls of a probe in an interval, of all processes.
struct LatencyInterval {
  std::string probe = {};
  std::uint64_t count = 0, errors = 0, sum_ns = 0, max_ns = 0;
  LatencyBuckets buckets = {};
};

// Not thread-safe.
class LatencyLedger {
 public:
  // The number of processes and cgroups for which there is room. The calls of all others are
  // counted together, as those of process 0.
  static constexpr std::size_t kMost = 65536;

  // `planned` are the events of the recording, by number.
  explicit LatencyLedger(std::span<const PlannedEvent> planned, std::size_t most = kMost);

  bool is_empty() const { return probes_.empty(); }
  // A process has started, or has changed its name. All calls of a process get its last name. If it
  // never got one, they get the name that it had when the kernel began to count.
  void Start(std::uint32_t pid) { names_.erase(pid); }
  void Rename(std::uint32_t pid, std::string_view comm);
  // Adds what DrainLatency returned.
  void Add(std::span<const LatencyCounts> drained);
  // Sets how many calls of each probe, by the number of its event, the programs have missed so far
  // at most.
  void SetMissed(const std::function<std::uint64_t(std::uint32_t)>& missed_of);
  // Sums up the calls without samples since the last time. Calls `send` with a message (bpf/wire.h)
  // for each event, process and cgroup that has any: a sample at `time_ns` with the sum as its
  // period.
  void SumUpFastCalls(std::uint64_t time_ns, const std::function<void(Bytes)>& send);

  // Returns the calls of each probe since the last call.
  std::vector<LatencyInterval> NextInterval();

  // Returns all so far. `path_of` returns the path of a cgroup by its id. `uncounted` has an entry
  // for each event.
  LatencySummary Summarize(const std::function<std::string(std::uint64_t)>& path_of,
                           std::span<const UncountedCalls> uncounted) const;

 private:
  struct Key {
    std::uint32_t event = 0, tgid = 0;
    std::uint64_t cgroup = 0;

    auto operator<=>(const Key&) const = default;
  };
  struct Calls {
    std::string comm;       // without one in names_
    std::uint16_t cpu = 0;  // where some of them ended
    std::uint64_t count = 0, sum_ns = 0, max_ns = 0;
    std::uint64_t fast_ns = 0;  // not summed up yet
    std::map<std::int64_t, std::uint64_t> errors;
    LatencyBuckets buckets = {};
  };
  struct Probe {
    std::uint32_t event = 0;
    std::uint16_t id = 0;  // common_type of its raw records
    LatencyOptions options;
    std::uint64_t other_errors = 0;  // calls whose error has no count
    std::uint64_t other_calls = 0;   // that are counted as of process 0
    std::uint64_t missed = 0;
    LatencyInterval interval = {};
  };

  Probe* ProbeOf(std::uint32_t event);

  std::vector<Probe> probes_;
  std::size_t most_;
  std::map<Key, Calls> calls_;
  std::unordered_map<std::uint32_t, std::string> names_;  // by PID; at most most_
};

}  // namespace perftape::record
