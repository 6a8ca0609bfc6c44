// SPDX-License-Identifier: Apache-2.0
// The table of everything that a recording needs of the kernel and of the user: the sentence for
// what is missing, and the remedy. The errors of the recorder and perftape-doctor use its texts.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::record {

// In the order of the table: capabilities are granted one after another.
enum class Requirement : std::uint8_t {
  kPerfEvents,        // CONFIG_PERF_EVENTS
  kUserNamespace,     // capabilities of a user namespace do not allow BPF
  kCapabilities,      // CAP_BPF and CAP_PERFMON. Words: "BPF is"; the recorder's path
  kPerfParanoid,      // kernel.perf_event_paranoid. Words: its value
  kUserEvents,        // the same, which forbids users all perf events. Words: its value
  kBtf,               // /sys/kernel/btf/vmlinux
  kLockdown,          // lockdown=confidentiality
  kKptrRestrict,      // kernel.kptr_restrict. Words: its value
  kSyslog,            // CAP_SYSLOG. Words: kernel.kptr_restrict; the recorder's path
  kRingBuffer,        // Linux 5.8. Words: the release of the kernel
  kLockedMemory,      // RLIMIT_MEMLOCK, before Linux 5.11. Words: the limit in KiB
  kSystemCallFilter,  // a seccomp filter
  kOpenFiles,         // RLIMIT_NOFILE
  kPerfMemory,        // kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK
  kHardwareCounters,  // a PMU
  kTracefsMount,      // tracefs
  kTracefsAccess,     // permission to read tracefs. Words: the directory; the recorder's path
  kTaskStorage,       // Linux 5.11
  kUprobes,           // CONFIG_UPROBE_EVENTS. Words: the file that is missing
  kKprobes,           // CONFIG_KPROBE_EVENTS. Words: the file that is missing
  kProbeCapability,   // CAP_SYS_ADMIN. Words: the recorder's path
  kTrampolineCalls,   // DYNAMIC_FTRACE_WITH_DIRECT_CALLS. Words: the function
  kTrampolines,       // fentry and fexit. Words: the function; the error
  kCgroups,           // a mounted cgroup hierarchy
};

// A requirement that is not met.
struct Finding {
  Requirement requirement = Requirement::kPerfEvents;
  std::string problem = {};  // "tracefs is not mounted"
  std::string remedy = {};   // a phrase for people: "run it as root, or grant it"; may be empty
  std::string command = {};  // a remedy for a shell; may be empty

  // Returns "PROBLEM: REMEDY: 'COMMAND'", as errors contain it.
  std::string text() const;

  bool operator==(const Finding&) const = default;
};

// Returns "tracefs-mount": a name that does not change, for programs.
std::string_view NameOf(Requirement requirement);

// Returns what is missing. `words` are those that the comment at the requirement lists.
Finding Missing(Requirement requirement, std::initializer_list<std::string_view> words = {});

// The error for what is missing: "WHAT: FINDING; FINDING", without "WHAT: " if `what` is empty.
std::unexpected<Error> FailMissing(ErrorCode code, std::string_view what,
                                   std::vector<Finding> findings);
// Adds what probably caused `error`, and its text: "ERROR; FINDING".
std::unexpected<Error> FailBecause(Error error, std::vector<Finding> causes);
// Returns what an error, also one InContext, is about; empty if it was made in another way.
std::vector<Finding> FindingsOf(const Error& error);

// Returns the texts of findings, joined by "; ".
std::string TextOf(const std::vector<Finding>& findings);

// Returns the path of perftape-record beside the running program; without a directory if that is
// unknown.
std::filesystem::path RecorderFile();
// Returns the same, quoted for a shell if necessary.
std::string RecorderPath();

}  // namespace perftape::record
