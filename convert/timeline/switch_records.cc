// SPDX-License-Identifier: Apache-2.0
#include "convert/timeline/switch_records.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "convert/model/sample_thread.h"

namespace perftape::timeline {
namespace {

using convert::ThreadSwitch;

// A thread after its last switch.
struct Last {
  bool is_on_cpu = false;
  std::int64_t time_ns = 0;
  State state = State::kNotRecorded;  // of the wait, if it is on no CPU
};

State StateAfter(const ThreadSwitch& away) {
  return away.is_preempted ? State::kRunnable : State::kSleep;
}

}  // namespace

std::vector<Switches::Wait> WaitsOf(std::vector<ThreadSwitch> switches, const Span& time) {
  std::ranges::stable_sort(switches, {}, &ThreadSwitch::time_ns);
  std::vector<Switches::Wait> waits;
  const auto add = [&](std::uint32_t pid, std::uint32_t tid, const Span& range, State state) {
    const Interval wait = {.time = Common(range, time), .state = state};
    if (!wait.time.is_empty()) waits.push_back({.pid = pid, .tid = tid, .interval = wait});
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Last> threads;  // by pid and tid
  for (const ThreadSwitch& one : switches) {
    if (one.tid == 0 || one.tid == convert::kUnknownId) continue;  // the idle task; an ended one
    const auto [found, is_new] = threads.try_emplace({one.pid, one.tid});
    Last& last = found->second;
    if (is_new) {
      last.is_on_cpu = !one.is_in;
      last.time_ns = time.start;
    }
    if (!last.is_on_cpu) {
      // A thread does not leave a CPU twice: the switch to it was lost.
      add(one.pid, one.tid, {.start = last.time_ns, .end = one.time_ns},
          one.is_in ? last.state : State::kNotRecorded);
    }
    last = {.is_on_cpu = one.is_in, .time_ns = one.time_ns, .state = StateAfter(one)};
  }
  for (const auto& [thread, last] : threads) {
    if (last.is_on_cpu) continue;
    add(thread.first, thread.second, {.start = last.time_ns, .end = time.end}, last.state);
  }
  return waits;
}

}  // namespace perftape::timeline
