// SPDX-License-Identifier: Apache-2.0
// The names that reveal nothing about a program or a machine, because they come from the kernel,
// perf or pprof.
#pragma once

#include <string_view>

namespace perftape::anonymize {

// Whether it is the name of a hardware, cache or software event of perf, with modifiers or without
// ("cycles:u"), of an event of perftape-record, of a tracepoint of a subsystem of the kernel
// ("sched:sched_switch"), of a usual sample type of pprof ("alloc_space"), or of a view over time
// ("wall-clock").
bool IsPublicEvent(std::string_view name);

// Whether it is the unit of a time, a size or a count.
bool IsPublicUnit(std::string_view unit);

}  // namespace perftape::anonymize
