// SPDX-License-Identifier: Apache-2.0
// An event opened on every CPU: perf_event_open(2) once for each CPU, with pid -1 or for one
// thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "formats/base/file.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "record/machine/cpu_list.h"

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
// names the setting and the capability. Fails with kUnsupported if the kernel does not have the
// event.
//
// `leaders` is empty, or the events of the leader of its group: the kernel counts both at the same
// time (group_fd of perf_event_open).
Result<std::vector<CpuEvent>> OpenOnCpus(const perfdata::EventAttr& attr, std::span<const int> cpus,
                                         std::span<const CpuEvent> leaders = {});

// Opens `attr` for one thread on each of `cpus`, which may be offline: the event then counts when
// its CPU is online. Raises the soft limit of open files if it is too low.
//
// Fails with kNotFound if the thread has ended, and with kPermission if the kernel refuses, as it
// does for threads of other users. Otherwise as OpenOnCpus.
Result<std::vector<CpuEvent>> OpenForThread(const perfdata::EventAttr& attr, pid_t tid,
                                            std::span<const int> cpus);

// Opens `attr` for the calling process and closes it again. Fails with kUnsupported if the kernel
// does not have the event, otherwise as OpenOnCpus.
Status TryToOpen(const perfdata::EventAttr& attr);

// Redirects the records of `events` (THROTTLE, UNTHROTTLE) to the ring of the event of the same CPU
// in `to`, which must be mapped. Skips events of CPUs that `to` does not have.
Status RedirectOutput(std::span<const CpuEvent> events, std::span<const CpuEvent> to);

// Returns how long the event has been enabled, in nanoseconds. Its attribute must have
// kReadTotalTimeEnabled. The time no longer grows after the CPU went offline: the kernel then
// removes the event for good, even if the CPU comes back (kernel/events/core.c,
// __perf_event_exit_context).
Result<std::uint64_t> EnabledNs(const CpuEvent& event);

// Returns how many records of the event, and of those that inherited it, did not fit into its ring.
// Its attribute must have kReadTotalTimeEnabled, kReadId and kReadLost.
Result<std::uint64_t> LostRecordsOf(const CpuEvent& event);

// Start and stop counting on every CPU.
Status EnableAll(std::span<const CpuEvent> events);
Status DisableAll(std::span<const CpuEvent> events);

// Closes the descriptors on several threads. To close a probe or its link, the kernel waits for an
// RCU grace period of some 0.1 s (perf_event_detach_bpf_prog, uprobe_unregister_sync); those that
// wait at the same time share it.
void CloseAll(std::vector<UniqueFd> descriptors);

}  // namespace perftape::record
