// SPDX-License-Identifier: Apache-2.0
// The limits of cgroups, and how much of them their tasks used while a recording ran, as its
// recorder notes it (recording_notes.h). The numbers are those of the files that the kernel
// describes in Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace perftape::bundle {

// The resources that a cgroup has used since it was made, and uses now. 0 for those without a
// controller.
struct CgroupUse {
  std::uint64_t time_ns = 0;            // CLOCK_MONOTONIC, when it was read
  std::uint64_t cpu_ns = 0;             // cpu.stat usage_usec, cpuacct.usage
  std::uint64_t periods = 0;            // cpu.stat nr_periods: those in which a task could run
  std::uint64_t throttled_periods = 0;  // those whose quota was used up
  std::uint64_t throttled_ns = 0;       // of all CPUs together
  // memory.current or memory.usage_in_bytes, without the file cache that was not used lately.
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_failures = 0;  // memory.events max, memory.failcnt: how often it was full
  std::uint64_t oom_kills = 0;        // memory.events, memory.oom_control
  std::uint64_t tasks = 0;            // pids.current
  std::uint64_t tasks_refused = 0;    // pids.events max: forks that failed

  bool operator==(const CgroupUse&) const = default;
};

// A limit of a device: io.max, or blkio.throttle.*_device.
struct NotedIoLimit {
  std::string device = {};  // "259:0"
  std::string kind = {};    // "rbps", "wbps", "riops" or "wiops", as in io.max
  std::uint64_t limit = 0;  // bytes or requests per second
  std::uint64_t first = 0;  // the bytes or requests so far, at the first reading
  std::uint64_t last = 0;   // the same at the last one
  // The largest number in a second, between two readings.
  std::uint64_t peak = 0;

  bool operator==(const NotedIoLimit&) const = default;
};

struct NotedCgroup {
  std::string path = {};           // below the mount, as in /proc/PID/cgroup
  std::uint64_t cpu_quota_us = 0;  // in a period; 0: no limit
  std::uint64_t cpu_period_us = 0;
  std::uint64_t memory_limit = 0;    // bytes; 0: none
  std::uint64_t task_limit = 0;      // 0: none
  CgroupUse first = {}, last = {};   // the readings at the begin and at the end
  std::uint64_t memory_peak = 0;     // the largest CgroupUse::memory_bytes of all readings
  std::uint64_t memory_peak_ns = 0;  // when that was read
  std::vector<NotedIoLimit> io_limits = {};
  // Recorded processes in it or below it, in the order in which they were seen. If there are many,
  // only the last ones.
  std::vector<std::uint64_t> pids = {};

  bool operator==(const NotedCgroup&) const = default;
};

// Whether any of its limits is set.
inline bool HasLimit(const NotedCgroup& cgroup) {
  return cgroup.cpu_quota_us != 0 || cgroup.memory_limit != 0 || cgroup.task_limit != 0 ||
         !cgroup.io_limits.empty();
}

}  // namespace perftape::bundle
