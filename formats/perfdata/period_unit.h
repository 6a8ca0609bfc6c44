// SPDX-License-Identifier: Apache-2.0
// What the period of an event counts.
#pragma once

#include <string_view>

#include "formats/perfdata/attr.h"

namespace perftape::perfdata {

inline constexpr std::string_view kNanoseconds = "nanoseconds";
inline constexpr std::string_view kCount = "count";

// The name of the recorder's event for waits for locks of the kernel: a tracepoint whose samples
// have the time waited as their period.
inline constexpr std::string_view kLockTime = "lock-time";

// Returns kNanoseconds for the clocks cpu-clock and task-clock (cpu_clock_event_update and
// task_clock_event_update of kernel/events/core.c), and for "offcpu-time", the name that
// perf record --off-cpu gives its event (OFFCPU_EVENT, tools/perf/util/off_cpu.h), and for
// kLockTime. Returns kCount for all others. `name` may end with modifiers, as "offcpu-time:u".
std::string_view PeriodUnitOf(const EventAttr& attr, std::string_view name);

}  // namespace perftape::perfdata
