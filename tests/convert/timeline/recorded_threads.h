// SPDX-License-Identifier: Apache-2.0
// Makes profiles as perftape-record --why records them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include "convert/model/label_keys.h"
#include "formats/perfdata/event_meanings.h"
#include "tests/convert/export/profile_maker.h"

namespace perftape::timeline {

class RecordedThreads {
 public:
  static constexpr std::int64_t kPeriod = 30;  // of the CPU's clock

  convert::ThreadId Thread(std::string_view comm, std::uint32_t pid, std::uint32_t tid) {
    return made.Runs(comm, pid, tid);
  }

  // A stack of functions, outermost first. Those that begin with "k:" are of the kernel.
  convert::StackId Calls(std::initializer_list<std::string_view> functions) {
    return Calls(std::span(functions.begin(), functions.size()));
  }
  convert::StackId Calls(std::span<const std::string_view> functions) {
    convert::StackId stack;
    for (const std::string_view name : functions) {
      const bool is_kernel = name.starts_with("k:");
      stack = made.builder.Push(
          stack, is_kernel ? made.Frame(kernel_, ++offset_, {name.substr(2)}) : made.Frame(name));
    }
    return stack;
  }

  void Ran(convert::ThreadId thread, std::int64_t at, convert::StackId stack,
           std::int64_t cpu = 0) {
    Add(thread, OnCpu(), at, kPeriod, stack, {Number(convert::kCpuLabel, cpu)});
  }
  void Slept(convert::ThreadId thread, std::int64_t start, std::int64_t end,
             convert::StackId stack) {
    Add(thread, Time(perfdata::kOffCpuTime), end, end - start, stack);
  }
  void WaitedForDisk(convert::ThreadId thread, std::int64_t start, std::int64_t end,
                     convert::StackId stack) {
    Add(thread, Time(perfdata::kOffCpuDiskTime), end, end - start, stack);
  }
  void WaitedForCpu(convert::ThreadId thread, std::int64_t start, std::int64_t end,
                    convert::StackId stack = {}, std::int64_t cpu = 0) {
    Add(thread, Time(perfdata::kOffCpuRunnableTime), end, end - start, stack,
        {Number(convert::kCpuLabel, cpu)});
  }
  // The sum of short waits.
  void SleptShortly(convert::ThreadId thread, std::int64_t at, std::int64_t sum) {
    Add(thread, Time(perfdata::kOffCpuTime), at, sum, Calls({perfdata::kShortWaits}));
  }
  // `waker` ends the wait that began at `start`.
  void Woke(convert::ThreadId waker, std::int64_t at, std::int64_t woken_tid, std::int64_t start,
            convert::StackId stack) {
    Add(waker, Time(perfdata::kWakeup), at, at - start, stack,
        {Number(convert::kWokenTidLabel, woken_tid)});
  }
  // The same of an older recording, which does not name the woken thread.
  void WokeSomeone(convert::ThreadId waker, std::int64_t at, std::int64_t start,
                   convert::StackId stack) {
    Add(waker, Time(perfdata::kWakeup), at, at - start, stack);
  }
  void Hit(convert::ThreadId thread, std::string_view event, std::int64_t at,
           std::vector<convert::Label> labels = {}) {
    Add(thread, made.Counts(event), at, 1, {}, std::move(labels));
  }

  // What is recorded from now on is of this cgroup.
  void EnterCgroup(std::string_view path) { cgroup_ = path; }

  convert::Label Number(std::string_view key, std::int64_t number) {
    return {.key = made.builder.Add(key), .number = number};
  }

  convert::Profile Make() { return made.Make(); }

  convert::ProfileMaker made;

 private:
  convert::EventId OnCpu() { return made.Counts(perfdata::kCpuClock.name, "nanoseconds", kPeriod); }
  convert::EventId Time(const perfdata::EventMeaning& event) {
    return made.Counts(event.name, "nanoseconds");
  }

  void Add(convert::ThreadId thread, convert::EventId event, std::int64_t at, std::int64_t period,
           convert::StackId stack, std::vector<convert::Label> labels = {}) {
    labels.push_back(Number(convert::kTimestampLabel, at));
    if (!cgroup_.empty()) {
      labels.push_back(
          {.key = made.builder.Add(convert::kCgroupLabel), .text = made.builder.Add(cgroup_)});
    }
    made.builder.Add(convert::Sample{.stack = stack,
                                     .thread = thread,
                                     .event = event,
                                     .labels = made.builder.Add(labels),
                                     .count = 1,
                                     .period = period});
  }

  convert::MappingId kernel_ = made.Map("[kernel.kallsyms]", convert::MappingType::kKernel);
  std::uint64_t offset_ = 0;
  std::string_view cgroup_;
};

}  // namespace perftape::timeline
