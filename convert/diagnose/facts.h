// SPDX-License-Identifier: Apache-2.0
// What a recording of latency probes says about its processes, before any rule is applied: their
// calls, their cgroups, and the peers that they talked to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/filter/filter.h"
#include "convert/model/profile.h"
#include "formats/base/latency_buckets.h"
#include "formats/bundle/recording_notes.h"

namespace perftape::diagnose {

// A process, or all short-lived processes with one name in one cgroup.
struct Process {
  std::uint32_t pid = 0;  // 0: several processes, or none
  std::string comm = {};
  std::string cgroup = {};     // its path; empty if unknown
  std::string container = {};  // "shop/web-0 nginx", of Kubernetes, or "db"; empty if not known

  // Where it ran: the container, or else the cgroup.
  const std::string& place() const { return container.empty() ? cgroup : container; }

  auto operator<=>(const Process&) const = default;
};

// A call that was slow or failed, or several equal ones if the profile has no times.
struct SlowCall {
  std::string probe = {};  // "tcp-connect"
  Process process = {};
  std::uint64_t ns = 0;     // the time of all `count` calls
  std::int64_t end_ns = 0;  // on the recording's clock; 0 if unknown
  std::uint64_t count = 1;
  std::string error = {};   // "ECONNREFUSED"; empty if it did not fail
  std::string object = {};  // its peer, file, lock, device, …; empty if unknown
  convert::StackId stack = {};
  bool waits_for_lock = false;  // according to the functions of its stack
};

struct FailedCalls {
  std::string error = {};
  std::string object = {};  // empty if the recording does not say which
  std::uint64_t count = 0;
};

// All calls of one probe by one process.
struct Calls {
  std::string probe = {};
  Process process = {};
  std::vector<std::uint32_t> pids = {};  // of these processes
  std::uint64_t count = 0, sum_ns = 0, max_ns = 0;
  // By bucket of their time (latency_buckets.h). Without `has_histogram`, of slow or failed calls
  // only.
  LatencyBuckets buckets = {};
  bool has_histogram = false;
  double p50_ns = 0, p95_ns = 0, p99_ns = 0;  // 0 without a histogram
  // What rules check: p99_ns, but with fewer than 100 calls, not the slowest one.
  double judged_p99_ns = 0;
  std::vector<FailedCalls> failed = {};  // the most frequent first
  std::vector<std::size_t> slow = {};    // indexes in Facts::slow_calls

  std::uint64_t failures() const;
};

struct OomKill {
  std::int64_t time_ns = 0;  // on the recording's clock; 0 if unknown
  Process process = {};
};

// What the tracepoints of TCP say about connections to one address.
struct Peer {
  std::string address = {};
  std::uint64_t retransmissions = 0, resets_received = 0, resets_sent = 0;
};

struct Facts {
  double seconds = 0;                // that were recorded; 0 if unknown
  std::int64_t start_ns = 0;         // of the first input, on the recording's clock; 0 if unknown
  std::vector<Calls> calls;          // by cgroup, process and probe
  std::vector<SlowCall> slow_calls;  // the slowest first
  std::vector<bundle::NotedCgroup> cgroups;
  std::map<std::string, std::string, std::less<>> containers;  // Process::container, by cgroup
  std::vector<OomKill> oom_kills;
  std::vector<Peer> peers;  // those with the most retransmissions and resets first
  // What was recorded, which determines what rules can see.
  std::set<std::string, std::less<>> probes;   // "tcp-connect"
  std::set<std::string, std::less<>> events;   // "oom:mark_victim", and those of the probes
  bool has_notes = false;                      // of any input
  bool has_cgroup_usage = false;               // the cgroups have readings
  std::vector<bundle::NotedLatencyLoss> lost;  // of the histograms
  std::uint32_t cpus = 0;          // of the machine; 0 if unknown or not the same in all
  std::uint64_t lost_samples = 0;  // slow calls that the recording lacks
  bool without_times = false;      // too many samples to keep them apart
};

// What the readers say about an input.
struct RecordedInput {
  std::shared_ptr<const bundle::RecordingNotes> notes = {};  // null if it has none
  std::vector<std::string> events = {};                      // the names of its events
  std::uint64_t lost_samples = 0;
  bool without_times = false;
  std::uint32_t cpus = 0;  // of the machine; 0 if unknown
};

// The fields of samples that must be labels of the profile (ImportOptions::field_labels).
std::vector<std::string> NeededFields();
// Whether MakeFacts uses the samples of an event.
bool IsNeeded(std::string_view event);

// Returns the facts of a profile of latency probes and of its inputs. `filter` is that of the
// profile; it also selects the processes in the notes, by pids, comms and cgroups.
Facts MakeFacts(const convert::Profile& profile, const std::vector<RecordedInput>& inputs,
                const convert::FilterOptions& filter);

// Returns the cgroup of a process among those with readings: the innermost one with a limit, or
// else the innermost one. Empty if there is none. (With version 1, a process is in several
// cgroups.)
std::string_view CgroupOf(const std::vector<bundle::NotedCgroup>& cgroups, std::uint32_t pid);
// Returns Process::container of a cgroup, or of the innermost one around it that has one.
std::string ContainerOf(const Facts& facts, std::string_view cgroup);
// Whether a cgroup is another one or below it.
bool IsWithin(std::string_view cgroup, std::string_view ancestor);

}  // namespace perftape::diagnose
