// SPDX-License-Identifier: Apache-2.0
// Counts in a recording of perftape-record --why which wakeup a timeline joins with which wait, and
// whether that is the right one: the wakeup says when the wait began, and which thread it woke.
//
//   joined_waits RECORDING
//
// Prints JSON: waits; `joined` with a wakeup; `wrong`, whose wakeup is of another wait or thread,
// and which are printed to stderr.
// Of wakeups that are found by the start of their wait alone, `same_start` are of the starts of
// several waits, and `other_thread` of a wait of another thread than the woken one.
#include <fmt/core.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <utility>
#include <vector>

#include "convert/combine.h"
#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "convert/timeline/timeline.h"

namespace perftape::timeline {
namespace {

using convert::Profile;

struct Counts {
  std::uint64_t waits = 0, joined = 0, wrong = 0, same_start = 0, other_thread = 0;
};

bool IsWait(const Interval& interval) {
  return interval.sample != kNone &&
         (interval.state == State::kSleep || interval.state == State::kLock ||
          interval.state == State::kDisk);
}

std::int64_t StartOf(const Timeline& timeline, std::uint32_t sample) {
  return timeline.TimeOf(sample).value_or(0) - timeline.profile().samples()[sample].period;
}

std::int64_t WokenTid(const Profile& profile, std::uint32_t wakeup) {
  const convert::Label* const woken =
      FindLabel(profile, profile.samples()[wakeup].labels, convert::kWokenTidLabel);
  return woken == nullptr ? -1 : woken->number;
}

Counts CountJoined(const Timeline& timeline) {
  const Profile& profile = timeline.profile();
  Counts counts;
  std::map<std::int64_t, std::vector<std::uint32_t>> tids_by_start;
  for (const ThreadLine& line : timeline.threads()) {
    for (const Interval& interval : line.intervals) {
      if (!IsWait(interval)) continue;
      ++counts.waits;
      const std::int64_t start = StartOf(timeline, interval.sample);
      tids_by_start[start].push_back(line.tid);
      const Wakeup* const wakeup = line.WakeupOf(interval);
      if (wakeup == nullptr) continue;
      ++counts.joined;
      const std::int64_t woken = WokenTid(profile, wakeup->sample);
      if (wakeup->start_ns == start && woken == line.tid) continue;
      ++counts.wrong;
      fmt::print(stderr, "wait {}-{} of {}: wakeup at {} of {}, from {}\n", start,
                 interval.time.end, line.tid, wakeup->time_ns, woken, wakeup->start_ns);
    }
  }
  for (const ThreadLine& line : timeline.threads()) {
    for (const Wakeup& wakeup : line.wakeups) {
      const auto found = tids_by_start.find(wakeup.start_ns);
      if (found == tids_by_start.end()) continue;
      if (found->second.size() > 1) ++counts.same_start;
      if (found->second.front() != line.tid) ++counts.other_thread;
    }
  }
  return counts;
}

int Main(const char* path) {
  convert::CombineOptions options;
  options.look_up_names = false;
  options.import.time_label = true;
  options.import.cpu_label = true;
  options.import.waits_around_time = true;
  convert::Combiner combiner(options);
  Result<Input> input = convert::OpenInput(path);
  if (!input || !combiner.Add(*std::move(input))) return 1;
  const convert::TaskEvents events = combiner.inputs().front().read.task_events;
  const Result<Profile> profile = std::move(combiner).Finish();
  if (!profile) return 1;
  const Counts counts = CountJoined(Timeline::Build(*profile, {.events = events}));
  fmt::print(
      "{{\"waits\": {}, \"joined\": {}, \"wrong\": {}, \"same_start\": {}, \"other_thread\": "
      "{}}}\n",
      counts.waits, counts.joined, counts.wrong, counts.same_start, counts.other_thread);
  return 0;
}

}  // namespace
}  // namespace perftape::timeline

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: joined_waits RECORDING\n", stderr);
    return 2;
  }
  return perftape::timeline::Main(argv[1]);
}
