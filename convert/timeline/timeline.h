// SPDX-License-Identifier: Apache-2.0
// The threads of a recording over time: in which state each was, and who woke it. It is made from
// the samples of perftape-record --why: those of a clock of the CPU, waits, and wakeups. Samples of
// the scheduler's tracepoints (switches.h) and context switches (switch_records.h) also work.
//
//   const Timeline timeline = Timeline::Build(profile, {.events = report.task_events});
//   for (const ThreadLine& line : timeline.threads()) {
//     for (const Interval& interval : line.intervals) ...
//   }
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "convert/model/task_event.h"
#include "convert/timeline/thread_line.h"

namespace perftape::timeline {

// What a recording has for a timeline.
struct Recorded {
  bool on_cpu = false, waits = false, runnable = false, wakeups = false;
  // Whether each gap between two waits of a thread is time on a CPU.
  bool has_all_waits() const { return waits && runnable; }
};

struct TimelineOptions {
  // What happened to threads (ImportReport::task_events).
  convert::TaskEvents events = {};
  // Its context switches (ImportReport::switches). They are used if it has no waits.
  std::vector<convert::ThreadSwitch> switches = {};
  // The names of the recording's events, also of those without samples (ImportReport::events).
  std::vector<std::string> event_names = {};
  // The range to look at (ImportReport::window); nothing for all.
  std::optional<convert::TimeWindow> window = {};
  // When the events of waits were switched off (pauses.h). Nothing is known of these times.
  std::vector<Span> pauses = {};
  // A shorter time without samples does not mean that a thread did not run, whatever the period is.
  std::int64_t least_silence_ns = 4'000'000;
};

class Timeline {
 public:
  // `profile` has the labels of times and CPUs (ImportOptions::time_label, cpu_label). It must
  // outlive the timeline. Samples without a time are left out.
  static Timeline Build(const convert::Profile& profile, const TimelineOptions& options);

  const convert::Profile& profile() const { return *profile_; }
  // Sorted by pid and tid. Threads that are known only from wakeups are left out.
  std::span<const ThreadLine> threads() const { return threads_; }
  // Returns the index of a thread in threads(), or kNone.
  std::uint32_t Find(std::uint32_t pid, std::uint32_t tid) const;
  // From the first sample to the last, or the range that was read.
  const Span& time() const { return time_; }
  const Recorded& recorded() const { return recorded_; }
  // The event whose samples say what ran; nothing if the recording has none.
  const std::optional<convert::EventId>& on_cpu_event() const { return on_cpu_event_; }
  // The time of a sample; nothing if unknown.
  std::optional<std::int64_t> TimeOf(std::uint32_t sample) const;
  // The CPU of a sample; kNone if unknown.
  std::uint32_t CpuOf(std::uint32_t sample) const;
  // The path of the cgroup of a sample; empty if unknown (ImportOptions::cgroup_label).
  convert::StringId CgroupOf(std::uint32_t sample) const;
  // Returns the samples of a CPU's clock within a range: what it ran.
  std::span<const SampleAt> RanOn(std::uint32_t cpu, const Span& range) const;

 private:
  friend class TimelineBuilder;

  const convert::Profile* profile_ = nullptr;
  std::vector<ThreadLine> threads_;
  Span time_;
  Recorded recorded_;
  std::optional<convert::EventId> on_cpu_event_;
  std::vector<std::int64_t> times_;            // by LabelsId
  std::vector<std::uint32_t> cpus_;            // by LabelsId
  std::vector<convert::StringId> cgroups_;     // by LabelsId
  std::vector<std::vector<SampleAt>> by_cpu_;  // of the CPU's clock, by time
};

}  // namespace perftape::timeline
