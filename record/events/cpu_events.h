// SPDX-License-Identifier: Apache-2.0
// An event opened on every CPU: perf_event_open(2) with pid -1, once for each CPU.
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
  std::uint64_t id = 0;  // PERF_EVENT_IOC_ID: the id in the records of this descriptor
};

// Calls perf_event_open(2) with a struct perf_event_attr, for all processes on `cpu`. Raises the
// soft limit of open files if it is too low. Returns the descriptor, which the caller owns, or the
// negative errno.
int OpenForAllProcesses(const void* attr, int cpu);

// Opens `attr` on each of `cpus`. Skips CPUs that are offline or do not exist. Raises the soft
// limit of open files if it is too low.
//
// Fails with kInvalidArgument if none of the CPUs exists, or if a frequency is above
// kernel.perf_event_max_sample_rate. Fails with kPermission if the kernel refuses; the message
// names the setting and the capability. Fails with kUnsupported if the kernel has no such event.
Result<std::vector<CpuEvent>> OpenOnCpus(const perfdata::EventAttr& attr,
                                         std::span<const int> cpus);

// Opens `attr` for the calling process and closes it again. Fails with kUnsupported if the kernel
// has no such event, otherwise as OpenOnCpus.
Status TryToOpen(const perfdata::EventAttr& attr);

// Redirects the records of `events` (THROTTLE, UNTHROTTLE) to the ring of the event of the same CPU
// in `to`, which must be mapped. Skips events of CPUs that `to` does not have.
Status RedirectOutput(std::span<const CpuEvent> events, std::span<const CpuEvent> to);

// Returns how long the event has been enabled, in nanoseconds. Its attribute must have
// kReadTotalTimeEnabled. The time no longer grows after the CPU went offline: the kernel then
// removes the event for good, even if the CPU comes back (kernel/events/core.c,
// __perf_event_exit_context).
Result<std::uint64_t> EnabledNs(const CpuEvent& event);

// Start and stop counting on every CPU.
Status EnableAll(std::span<const CpuEvent> events);
Status DisableAll(std::span<const CpuEvent> events);

}  // namespace perftape::record
