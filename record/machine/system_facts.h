// SPDX-License-Identifier: Apache-2.0
// The settings that decide whether this machine and this user can record, as far as they can be
// read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace perftape::record {

struct SystemFacts {
  std::uint64_t capabilities = 0;    // the effective ones, one bit each (linux/capability.h)
  bool in_user_namespace = false;    // then the capabilities are those of the namespace
  bool has_btf = false;              // /sys/kernel/btf/vmlinux
  std::optional<int> perf_paranoid;  // kernel.perf_event_paranoid; absent: no perf events
  std::optional<int> kptr_restrict;  // kernel.kptr_restrict
  bool locked_down = false;          // lockdown=confidentiality: BPF may not read the kernel
  std::string release = {};          // of the kernel: "6.1.0-18-amd64"; empty: unknown
  // Nothing: no limit.
  std::optional<std::uint64_t> locked_memory_kib = {};  // RLIMIT_MEMLOCK
  std::optional<std::uint64_t> open_files = {};         // RLIMIT_NOFILE, the hard limit
  bool has_system_call_filter = false;                  // seccomp(2)

  bool Has(int capability) const { return ((capabilities >> capability) & 1) != 0; }
  // Whether the release is known and below MAJOR.MINOR.
  bool IsOlderThan(int major, int minor) const;
};

SystemFacts ReadSystemFacts();

// Returns the number in /proc/sys/kernel/`name`; nothing if the file is missing or unreadable.
std::optional<int> ReadKernelSetting(std::string_view name);

}  // namespace perftape::record
