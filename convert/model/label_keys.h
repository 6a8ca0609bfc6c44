// SPDX-License-Identifier: Apache-2.0
// The keys of the labels that have a meaning for perftape: a sample of perf.data has a field for
// each. Readers and writers use the same keys, so converting there and back loses none of them.
#pragma once

#include <string>
#include <string_view>

namespace perftape::convert {

inline constexpr std::string_view kPidLabel = "pid";        // a number
inline constexpr std::string_view kTidLabel = "tid";        // a number
inline constexpr std::string_view kCommLabel = "comm";      // a text
inline constexpr std::string_view kCpuLabel = "cpu";        // a number
inline constexpr std::string_view kCgroupLabel = "cgroup";  // its path
// Of a cgroup that is, or is in, a container or a pod of Kubernetes: their names.
inline constexpr std::string_view kPodNamespaceLabel = "namespace", kPodLabel = "pod",
                                  kContainerLabel = "container";
// Of a cgroup that is, or is in, a unit of systemd, and not in a pod: "nginx.service".
inline constexpr std::string_view kUnitLabel = "unit";
inline constexpr std::string_view kTimestampLabel = "timestamp_ns";  // a number
// The span of a trace that was active, in lower-case hexadecimal: 32 and 16 digits.
inline constexpr std::string_view kTraceIdLabel = "trace_id";
inline constexpr std::string_view kSpanIdLabel = "span_id";
// Of the thread that the sample woke (perftape-record --wakers).
inline constexpr std::string_view kWokenLabel = "woken";         // its comm, a text
inline constexpr std::string_view kWokenTidLabel = "woken_tid";  // a number
// How many threads ran when the sample was taken (timeline/parallelism.h): a number. It is
// computed, so a sample of perf.data has no field for it.
inline constexpr std::string_view kParallelismLabel = "parallelism";

// Whether the label is a part of the sample's thread (sample_thread.h).
constexpr bool IsThreadLabel(std::string_view key) {
  return key == kPidLabel || key == kTidLabel || key == kCommLabel;
}

// Whether the label is a part of the thread that the sample woke.
constexpr bool IsWokenLabel(std::string_view key) {
  return key == kWokenLabel || key == kWokenTidLabel;
}

// Whether the label names what a cgroup belongs to.
constexpr bool IsContainerLabel(std::string_view key) {
  return key == kPodNamespaceLabel || key == kPodLabel || key == kContainerLabel ||
         key == kUnitLabel;
}

// Whether a sample of perf.data has a field for the label.
constexpr bool IsSampleField(std::string_view key) {
  return IsThreadLabel(key) || IsWokenLabel(key) || key == kCpuLabel || key == kCgroupLabel ||
         key == kTimestampLabel;
}

// Returns the key of the label for a field of a tracepoint: the name, or "field:pid" for a name
// that other labels have, such as pid.
inline std::string FieldLabelKey(std::string_view name) {
  const bool is_other = IsSampleField(name) || IsContainerLabel(name);
  return std::string(is_other ? "field:" : "").append(name);
}

}  // namespace perftape::convert
