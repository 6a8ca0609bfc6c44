// SPDX-License-Identifier: Apache-2.0
// What a recorder notes about its own recording: losses by CPU, event and cause, and settings that
// changed. perf.data has no field for most of it. It is recording.json, the first member of the
// embedded bundle, or alone in the archive if the recording has no bundle of symbols. perf never
// reads it. A recording in pipe form has none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/file.h"
#include "formats/base/input.h"
#include "formats/base/result.h"
#include "formats/bundle/embedding.h"
#include "formats/bundle/noted_cgroups.h"
#include "formats/bundle/noted_processes.h"

namespace perftape::json {
class Value;
}

namespace perftape::bundle {

inline constexpr std::string_view kNotesName = "recording.json";

// Samples, or records of process events, that are not in the file.
struct NotedLoss {
  std::string event = {};  // empty: unknown, or of process events
  int cpu = -1;            // -1: unknown
  std::string cause = {};  // "ring_full"
  std::uint64_t count = 0;

  bool operator==(const NotedLoss&) const = default;
};

// The end of call chains that reach the outermost frame.
inline constexpr std::string_view kCompleteChain = "complete";

// User call chains of an event that ended in the same way: kCompleteChain, or the cause. Counts
// only chains that the recorder found by unwind tables.
struct NotedChains {
  std::string event = {}, end = {};
  std::uint64_t count = 0;

  bool operator==(const NotedChains&) const = default;
};

struct NotedThrottling {
  std::string event = {};
  int cpu = 0;
  std::uint64_t times = 0, ns = 0;

  bool operator==(const NotedThrottling&) const = default;
};

// A CPU that was offline. The times are of CLOCK_MONOTONIC, as those of the records.
struct NotedAbsence {
  int cpu = 0;
  std::uint64_t from_ns = 0;
  std::optional<std::uint64_t> until_ns = {};  // nothing: until the end

  bool operator==(const NotedAbsence&) const = default;
};

// From `time_ns` on, the events were sampled once in `divisor` times.
struct NotedRate {
  std::uint64_t time_ns = 0;
  std::uint64_t divisor = 1;
  double cpu_percent = 0;  // of one CPU, which the recorder had used before

  bool operator==(const NotedRate&) const = default;
};

// A time in which an event was switched off, so that it has no samples.
struct NotedPause {
  std::uint64_t from_ns = 0, until_ns = 0;

  bool operator==(const NotedPause&) const = default;
};

// All times in which an event was off.
struct NotedPauses {
  std::string event = {};  // empty: all events, which were off at the same times
  std::uint64_t times = 0, off_ns = 0;
  std::vector<NotedPause> pauses = {};  // in ascending order; if there are many, only the first

  bool operator==(const NotedPauses&) const = default;
};

// What was known about a cgroup that is, or is in, a container or a pod of Kubernetes.
struct NotedContainer {
  std::string cgroup = {};         // its path, as in the records
  std::string pod_uid = {};        // empty: not of a pod
  std::string container_id = {};   // empty: the cgroup of a pod
  std::string pod_namespace = {};  // of Kubernetes; this and the names are empty if not known
  std::string pod = {}, container = {};

  bool operator==(const NotedContainer&) const = default;
};

// A number, and how often it occurred.
struct NotedCount {
  std::int64_t number = 0;
  std::uint64_t count = 0;

  bool operator==(const NotedCount&) const = default;
};

// All calls of one probe (formats/perfdata/latency_probes.h) by one process in one cgroup.
struct NotedLatency {
  std::string probe = {};  // "tcp-connect", "syscall=openat"
  std::uint32_t pid = 0;   // 0: of no process of this pid namespace
  std::string comm = {};   // of the thread that made the last slow or failed call, or the first one
  std::string cgroup = {};  // its path; empty unless cgroups were recorded
  std::uint64_t count = 0, sum_ns = 0, max_ns = 0;
  std::vector<NotedCount> errors = {};   // by code, in ascending order; without 0
  std::vector<NotedCount> buckets = {};  // by index (formats/base/latency_buckets.h), ascending

  bool operator==(const NotedLatency&) const = default;
};

// What made a call of a probe a sample.
struct NotedLatencyMin {
  std::string probe = {};
  std::uint64_t min_ns = 0;     // calls that took as long
  bool samples_errors = false;  // and those that failed

  bool operator==(const NotedLatencyMin&) const = default;
};

// Causes: there was no room for a histogram; too many calls were in progress when these began (for
// tcp-rtt, the count is of connections, each with any number of calls); the kernel did not run a
// program within itself, so that at most this many calls are not counted.
inline constexpr const char* kNoHistogram = "no_room";
inline constexpr const char* kInProgress = "in_progress";
inline constexpr const char* kMissedRuns = "recursion";

// Calls of a probe that are missing in NotedLatency, or counted incompletely there.
struct NotedLatencyLoss {
  std::string probe = {};
  std::string cause = {};
  std::uint64_t count = 0;

  bool operator==(const NotedLatencyLoss&) const = default;
};

struct RecordingNotes {
  std::uint64_t samples = 0;  // that were recorded
  // The time of sampling, CLOCK_MONOTONIC; 0: not noted.
  std::uint64_t start_ns = 0, end_ns = 0;
  std::vector<NotedLoss> lost = {};            // samples
  std::vector<NotedLoss> lost_processes = {};  // records of process events
  std::vector<NotedChains> chains = {};
  std::vector<NotedThrottling> throttled = {};
  std::vector<NotedAbsence> absences = {};
  std::vector<NotedRate> rates = {};
  std::vector<NotedPauses> pauses = {};
  std::uint64_t aggregate_ns = 0;  // the interval in which equal samples became one; 0: none did
  std::uint64_t aggregated = 0;    // samples that are part of another one
  std::string trigger = {};        // why the file was written
  std::vector<NotedContainer> containers = {};  // if cgroups are recorded
  std::vector<NotedCgroup> cgroups = {};        // of recorded processes
  std::vector<NotedProcess> processes = {};     // that publish what they are part of
  std::vector<NotedLatency> latency = {};
  std::vector<NotedLatencyMin> latency_min = {};  // of each probe that was recorded
  std::vector<NotedLatencyLoss> latency_lost = {};

  bool operator==(const RecordingNotes&) const = default;
};

// Encodes as JSON. Equal notes give equal bytes.
std::string EncodeNotes(const RecordingNotes& notes);
json::Value NotesJson(const RecordingNotes& notes);
json::Value PausesJson(const std::vector<NotedPauses>& all);
// Returns kCorrupt if `json` is not JSON or has a field of a wrong type, and kUnsupported for a
// later version. Ignores unknown fields.
Result<RecordingNotes> DecodeNotes(std::string_view json);

// Appends an archive with the notes only to the file of `fd`, at its end.
Status WriteNotesArchive(UniqueFd fd, const RecordingNotes& notes);

// Appends a copy of `archive` to the file of `fd`, at its end, with `notes` instead of its own.
// Returns the size of the copy in bytes. The errors are those of Unpack and of writing.
Result<std::uint64_t> WriteArchiveWithNotes(UniqueFd fd, Bytes archive,
                                            const std::optional<RecordingNotes>& notes);

// Return the notes in a perf.data and in an archive; nothing if it has none. They unpack nothing
// else. The errors are those of ReadFirstMember and DecodeNotes.
Result<std::optional<RecordingNotes>> FindNotes(Bytes perf_data);
Result<std::optional<RecordingNotes>> FindNotesInArchive(Bytes archive);
// Whether the archive at `extent` in a perf.data has notes and nothing else, so that it is no
// bundle.
bool HasOnlyNotes(Bytes perf_data, const Extent& extent);

}  // namespace perftape::bundle
