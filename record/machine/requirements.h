// SPDX-License-Identifier: Apache-2.0
// The table of everything that a recording needs from the kernel and the user: for each
// requirement, the sentence that says what is missing, and the remedy. The errors of the recorder
// and perftape-doctor use its texts. The functions check which requirements this machine and this
// user meet, without loading a BPF program.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/machine/system_facts.h"

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

// Returns an error with the findings: "WHAT: FINDING; FINDING", without "WHAT: " if `what` is
// empty.
std::unexpected<Error> FailMissing(ErrorCode code, std::string_view what,
                                   std::vector<Finding> findings);
// Adds the probable causes to `error` and to its message: "ERROR; FINDING".
std::unexpected<Error> FailBecause(Error error, std::vector<Finding> causes);
// Returns the findings of an error, also of one InContext; empty if it was not made by these
// functions.
std::vector<Finding> FindingsOf(const Error& error);

// Returns the texts of findings, joined by "; ".
std::string TextOf(const std::vector<Finding>& findings);

// Returns the path of the program that records: perftape-record in the directory of the running
// program, or this program if it contains all tools. Has no directory if that is unknown.
std::filesystem::path RecorderFile();
// Returns the same, quoted for a shell if necessary.
std::string RecorderPath();

// Returns why /proc/kallsyms and /proc/modules show no addresses to this process; nothing if they
// should show them (kallsyms_show_value in kernel/ksyms_common.c).
std::optional<Finding> WhyAddressesAreHidden(const SystemFacts& facts);
// Returns "/proc/kallsyms hides addresses: kernel.kptr_restrict is 2, …" for this process, after it
// has read zeros there.
std::string HiddenAddressesText();

// Returns the finding if CAP_BPF or CAP_PERFMON is missing.
std::optional<Finding> MissingCapabilities(const SystemFacts& facts);

// Returns why this user cannot load BPF programs; nothing if neither missing capabilities nor a
// user namespace prevents it.
std::optional<Finding> WhyNoPrograms(const SystemFacts& facts);

// Returns what keeps BPF programs from taking the samples, as far as the facts say; perf events may
// work without it.
std::vector<Finding> MissingForPrograms(const SystemFacts& facts);

// Returns how BPF programs can take the samples: the text of the first finding, or the option that
// asks for them.
std::string ProgramsRemedy(const SystemFacts& facts);

struct Findings {
  std::vector<Finding> missing;  // requirements; without them nothing can be recorded
  std::vector<Finding> limits;   // restrictions; a recording will be incomplete
};

Findings CheckFacts(const SystemFacts& facts);

// Returns why the kernel may have refused a BPF program, a map or a perf event with this errno: all
// requirements that are not met, or otherwise those that fit the error.
std::vector<Finding> LikelyCauses(const SystemFacts& facts, int error_number);

}  // namespace perftape::record
