// SPDX-License-Identifier: Apache-2.0
// What the period of an event counts.
#pragma once

#include <string_view>

#include "formats/perfdata/attr.h"

namespace perftape::perfdata {

inline constexpr std::string_view kNanoseconds = "nanoseconds";
inline constexpr std::string_view kCount = "count";

// The events of perftape-record -e offcpu and --wakers. perf record --off-cpu uses the first name,
// too (OFFCPU_EVENT, tools/perf/util/off_cpu.h).
inline constexpr std::string_view kOffCpuTime = "offcpu-time";           // sleeping, until woken
inline constexpr std::string_view kOffCpuDiskTime = "offcpu-disk-time";  // the same in state D
inline constexpr std::string_view kOffCpuRunnableTime =
    "offcpu-runnable-time";                            // waiting for a CPU
inline constexpr std::string_view kWakeup = "wakeup";  // the waker; what the woken thread slept

// The name of the recorder's event for waits for locks of the kernel: a tracepoint whose samples
// have the time waited as their period.
inline constexpr std::string_view kLockTime = "lock-time";

// Returns kNanoseconds for the clocks cpu-clock and task-clock (cpu_clock_event_update and
// task_clock_event_update of kernel/events/core.c), and for the names of off-CPU events if the
// event is PERF_COUNT_SW_BPF_OUTPUT; for "offcpu-time" and kLockTime in any case. Returns kCount
// for all others. `name` may end with modifiers, as "offcpu-time:u".
std::string_view PeriodUnitOf(const EventAttr& attr, std::string_view name);

}  // namespace perftape::perfdata
