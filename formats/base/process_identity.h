// SPDX-License-Identifier: Apache-2.0
// Facts that show whether a pid still means the same process. A pid is reused after its process has
// ended, and each pid namespace has a process 1. So a file with only a pid in its name, such as
// /tmp/perf-PID.map, belongs to a process only if namespace, start and owner agree.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace perftape {
inline namespace base {

struct ProcessIdentity {
  std::uint32_t own_pid = 0;  // its pid in its own namespace, the last number of NSpid
  // Whether that namespace differs from the one of the procfs that was read. If so, `own_pid` is
  // the number of a different process there.
  bool is_in_other_namespace = false;
  bool is_kernel_thread = false;
  std::uint32_t user = 0;       // effective
  std::int64_t started_ns = 0;  // since 1970; a tick of 10 ms or less too early
};

// Clocks of files and of processes have ticks: a file may seem to be older than the process that
// wrote it at its start, by a tick of each.
inline constexpr std::int64_t kStartSlackNs = 20'000'000;

// Reads /proc/PID/{stat,status} below `proc`. Nothing if the process has ended, or if a field is
// missing. `started_ns` follows steps of the wall clock, as times of files do not.
std::optional<ProcessIdentity> ReadProcessIdentity(const std::filesystem::path& proc,
                                                   std::uint32_t pid);

// Return the time of the last modification of a file, and the time now, since 1970.
std::int64_t ModifiedNs(const struct stat& file);
std::int64_t WallClockNs();

// Return why a file of that status was not written by the process; empty if it may be. It was not
// if its owner is neither the user of the process nor root (perf checks the owner, too: dso__load
// in tools/perf/util/symbol.c), or if it was last modified before the process started.
std::string WhyNotOwnedBy(const ProcessIdentity& process, const struct stat& file);
std::string WhyNotSince(std::int64_t started_ns, const struct stat& file);

}  // namespace base
}  // namespace perftape
