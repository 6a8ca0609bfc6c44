// SPDX-License-Identifier: Apache-2.0
// An event opened on every CPU: perf_event_open(2) with pid -1, once for each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "record/events/cpu_list.h"

namespace perftape::record {

struct CpuEvent {
  int cpu = 0;
  UniqueFd fd;
  std::uint64_t id = 0;  // PERF_EVENT_IOC_ID: what the records of this descriptor carry
};

// Opens `attr` on each of `cpus`. A CPU that is offline or not there is left out; it is an error of
// kInvalidArgument if none of them is there. The soft limit of open files is raised where it is too
// low. kPermission names the setting and the capability, kInvalidArgument for a frequency above
// kernel.perf_event_max_sample_rate names that limit.
Result<std::vector<CpuEvent>> OpenOnCpus(const perfdata::EventAttr& attr,
                                         std::span<const int> cpus);

// What `events` have to say in a ring (THROTTLE, UNTHROTTLE) goes into that of the event of the
// same CPU in `to`, which is mapped. Those of a CPU that `to` lacks are left alone.
Status RedirectOutput(std::span<const CpuEvent> events, std::span<const CpuEvent> to);

// How long the event has been enabled, by its own clock. It needs kReadTotalTimeEnabled in the
// attribute. It stands still after the CPU went offline: the kernel takes the event off it for
// good, also when it comes back (kernel/events/core.c, __perf_event_exit_context).
Result<std::uint64_t> EnabledNs(const CpuEvent& event);

// Starts and stops counting, on every CPU.
Status EnableAll(std::span<const CpuEvent> events);
Status DisableAll(std::span<const CpuEvent> events);

}  // namespace perftape::record
