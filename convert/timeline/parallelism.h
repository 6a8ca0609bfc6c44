// SPDX-License-Identifier: Apache-2.0
// The parallelism of a sample is the number of threads that ran when it was taken. If n threads
// ran, the sample stands for 1/n of its period in time that passed. This is its latency, as in perf
// report --latency (tools/perf/Documentation/cpu-and-latency-overheads.txt).
//
//   const RunningThreads running = RunningThreads::From(timeline);
//   const Profile labelled = LabelParallelism(timeline, running, {});
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "convert/model/profile.h"
#include "convert/model/task_event.h"
#include "convert/timeline/timeline.h"

namespace perftape::timeline {

// The number of threads that ran, over time.
class RunningThreads {
 public:
  // Counts the running threads of each process, that is, those that are not waiting.
  static RunningThreads From(const Timeline& timeline);
  // Counts by context switches: the threads of each process, if these are context switches of CPUs;
  // otherwise all recorded threads, as perf does for a command with its children. `events` are
  // those of the recording. A thread without context switches ran from its first sample to its
  // last.
  static RunningThreads From(const Timeline& timeline,
                             std::span<const convert::ThreadSwitch> switches,
                             std::span<const convert::TaskEvent> events);

  // Returns the number for a process at a time, at least 1.
  std::int64_t At(std::uint32_t pid, std::int64_t time_ns) const;

 private:
  friend class RunningCounter;

  // The number from a time on, until the next one.
  struct Step {
    std::int64_t time_ns = 0;
    std::int64_t running = 0;
  };
  std::map<std::uint32_t, std::vector<Step>> steps_;  // by pid; of 0 if all are counted together
  bool is_by_process_ = true;
};

// Numbers of threads; both ends are inclusive.
struct ThreadNumbers {
  std::int64_t first = 1;
  std::int64_t last = INT64_MAX;
};

// Returns the samples of the CPU's clock, with the label kParallelismLabel instead of the time.
// Leaves out samples of the idle task, samples without a time and, unless `kept` is empty, samples
// whose number is in none of these ranges.
convert::Profile LabelParallelism(const Timeline& timeline, const RunningThreads& running,
                                  std::span<const ThreadNumbers> kept);

// Returns the profile that LabelParallelism made with latencies instead of periods. Its event is
// kLatencyEvent.
convert::Profile ToLatency(const convert::Profile& labelled);

inline constexpr std::string_view kLatencyEvent = "latency";

}  // namespace perftape::timeline
