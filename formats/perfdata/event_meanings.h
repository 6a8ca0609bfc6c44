// SPDX-License-Identifier: Apache-2.0
// What the samples of an event mean: one row for each event that perftape-record names itself, and
// for the clocks. Readers and converters ask here, and know none of the names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "formats/perfdata/attr.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::perfdata {

// What the period of a sample measures.
enum class PeriodMeaning : std::uint8_t {
  kOther,
  kCpuTime,  // nanoseconds on a CPU
  kWait,     // nanoseconds on no CPU, or until a lock was free, before the sample
  kLatency,  // nanoseconds of a call that ends with the sample, on a CPU or not (latency_probes.h)
};

struct EventMeaning {
  std::string_view name;           // in the file, without modifiers
  std::string_view unit = kCount;  // of the period: kCount or kNanoseconds
  PeriodMeaning period = PeriodMeaning::kOther;
  // The number of the software event that it is; nothing if the name alone identifies it. Except
  // for kSoftwareBpfOutput, which many events are, a file may give it another name.
  std::optional<std::uint64_t> software = {};
  bool has_woken_thread = false;  // the address of a sample is the tid of the thread that it woke
};

// kernel/events/core.c, cpu_clock_event_update and task_clock_event_update.
inline constexpr EventMeaning kCpuClock = {.name = "cpu-clock",
                                           .unit = kNanoseconds,
                                           .period = PeriodMeaning::kCpuTime,
                                           .software = kSoftwareCpuClock};
inline constexpr EventMeaning kTaskClock = {.name = "task-clock",
                                            .unit = kNanoseconds,
                                            .period = PeriodMeaning::kCpuTime,
                                            .software = kSoftwareTaskClock};

// perftape-record -e offcpu. A thread sleeps until it is woken. perf record --off-cpu uses this
// name, too (OFFCPU_EVENT, tools/perf/util/off_cpu.h).
inline constexpr EventMeaning kOffCpuTime = {
    .name = "offcpu-time", .unit = kNanoseconds, .period = PeriodMeaning::kWait};
// The same in state D.
inline constexpr EventMeaning kOffCpuDiskTime = {.name = "offcpu-disk-time",
                                                 .unit = kNanoseconds,
                                                 .period = PeriodMeaning::kWait,
                                                 .software = kSoftwareBpfOutput};
// A thread waits for a CPU.
inline constexpr EventMeaning kOffCpuRunnableTime = {.name = "offcpu-runnable-time",
                                                     .unit = kNanoseconds,
                                                     .period = PeriodMeaning::kWait,
                                                     .software = kSoftwareBpfOutput};
// perftape-record --wakers. The sample is of the waker. Its period is what the woken thread slept.
inline constexpr EventMeaning kWakeup = {.name = "wakeup",
                                         .unit = kNanoseconds,
                                         .software = kSoftwareBpfOutput,
                                         .has_woken_thread = true};
// perftape-record -e lock: a tracepoint whose samples have the time waited as their period.
inline constexpr EventMeaning kLockTime = {
    .name = "lock-time", .unit = kNanoseconds, .period = PeriodMeaning::kWait};

// The only function of a sample of a wait that is the sum of many waits below the threshold.
inline constexpr std::string_view kShortWaits = "short_waits";

inline constexpr const EventMeaning* kEventMeanings[] = {
    &kCpuClock,           &kTaskClock, &kOffCpuTime, &kOffCpuDiskTime,
    &kOffCpuRunnableTime, &kWakeup,    &kLockTime,
};

// The row of an event in a file; null if there is none. `name` may end with modifiers, as
// "offcpu-time:u". The latency probes have rows of their own. An event of a single system call has
// that of all.
const EventMeaning* FindEventMeaning(const EventAttr& attr, std::string_view name);
// The same of an event of which only the name is known.
const EventMeaning* FindEventMeaning(std::string_view name);

// The unit of an event's period: kCount for an event without a row.
std::string_view PeriodUnitOf(const EventAttr& attr, std::string_view name);
std::string_view PeriodUnitOf(std::string_view name);
// kOther for an event without a row.
PeriodMeaning PeriodMeaningOf(std::string_view name);

// Whether the samples of an event of this name have a woken thread.
bool IsWakeup(std::string_view name);
// Whether the address of the event's samples is the tid of the thread that they woke, also in a
// file that was converted from another format.
bool HasWokenThread(const EventAttr& attr, std::string_view name);

}  // namespace perftape::perfdata
