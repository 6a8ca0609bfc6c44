// SPDX-License-Identifier: Apache-2.0
#include "record/machine/requirements.h"

#include <linux/capability.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <iterator>
#include <system_error>
#include <utility>

// Linux 5.8; some C library headers are older.
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

namespace perftape::record {
namespace {

// "{0}" is the first of the words. A problem begins with a text of its own, by which FindingsIn
// finds it.
struct RequirementRow {
  Requirement requirement;
  std::string_view name;
  std::string_view problem;
  std::string_view remedy;
  std::string_view command;
};

// Each setcap(8) grants what those above it grant, too, because it replaces what the file had. So
// the commands can be run one after another.
constexpr RequirementRow kRequirements[] = {
    {Requirement::kPerfEvents, "perf-events", "the kernel has no perf events (CONFIG_PERF_EVENTS)",
     "use a kernel with perf events", ""},
    {Requirement::kUserNamespace, "user-namespace", "this process is in a user namespace",
     "run it outside, as root: the capabilities of a user namespace (of a rootless container) do "
     "not allow BPF",
     ""},
    {Requirement::kCapabilities, "capabilities", "CAP_{0} missing",
     "run it as root, or grant them once with",
     "sudo setcap cap_bpf,cap_perfmon,cap_syslog+ep {1}"},
    {Requirement::kPerfParanoid, "perf-event-paranoid", "kernel.perf_event_paranoid is {0}",
     "grant CAP_PERFMON: without it, this setting does not allow users to record a whole CPU", ""},
    {Requirement::kUserEvents, "user-events",
     "with kernel.perf_event_paranoid at {0}, this kernel refuses all perf events to users",
     "run it as root, or change the setting with", "sudo sysctl kernel.perf_event_paranoid=2"},
    {Requirement::kBtf, "btf",
     "the kernel does not describe its types (/sys/kernel/btf/vmlinux is absent)",
     "use a kernel built with CONFIG_DEBUG_INFO_BTF, as in distributions since 2020", ""},
    {Requirement::kLockdown, "lockdown",
     "the kernel is locked down (lockdown=confidentiality), so BPF may not read its memory",
     "boot with lockdown=integrity, or without lockdown", ""},
    {Requirement::kKptrRestrict, "kptr-restrict",
     "kernel.kptr_restrict is {0}, which hides addresses even from root", "change it with",
     "sudo sysctl kernel.kptr_restrict=1"},
    {Requirement::kSyslog, "syslog", "CAP_SYSLOG is missing (kernel.kptr_restrict is {0})",
     "run it as root, or grant it with", "sudo setcap cap_bpf,cap_perfmon,cap_syslog+ep {1}"},
    {Requirement::kRingBuffer, "ring-buffer", "the kernel is too old for the BPF ring buffer: {0}",
     "use Linux 5.8 or later", ""},
    {Requirement::kLockedMemory, "locked-memory",
     "before Linux 5.11, BPF counts as locked memory, which is limited to {0} KiB",
     "raise the limit of this shell with", "sudo prlimit --memlock=unlimited --pid $$"},
    {Requirement::kSystemCallFilter, "system-call-filter",
     "a seccomp filter of this process (a container?) may refuse bpf(2) and perf_event_open(2)",
     "allow both in its profile, or run it outside", ""},
    {Requirement::kOpenFiles, "open-files",
     "the limit of open files (ulimit -Hn) is too low for one perf event on each CPU",
     "raise the limit of this shell with", "sudo prlimit --nofile=65536 --pid $$"},
    {Requirement::kPerfMemory, "perf-memory",
     "more memory than kernel.perf_event_mlock_kb and 'ulimit -l' allow together",
     "run it with CAP_IPC_LOCK, or raise the limit with",
     "sudo sysctl kernel.perf_event_mlock_kb=4096"},
    {Requirement::kHardwareCounters, "hardware-counters",
     "this machine has no hardware counter for it (PMU)",
     "record cpu-clock instead, or enable the counters in the hypervisor", ""},
    {Requirement::kTracefsMount, "tracefs-mount", "tracefs is not mounted", "",
     "sudo mount -t tracefs tracefs /sys/kernel/tracing"},
    {Requirement::kTracefsAccess, "tracefs-access", "tracefs cannot be read ({0})",
     "run it as root, or grant CAP_DAC_READ_SEARCH with",
     "sudo setcap cap_bpf,cap_perfmon,cap_syslog,cap_dac_read_search+ep {1}"},
    {Requirement::kTaskStorage, "task-storage", "the kernel has no BPF storage for tasks",
     "use Linux 5.11 or later", ""},
    {Requirement::kUprobes, "uprobes", "this kernel has no uprobes ({0} is absent)",
     "use a kernel with CONFIG_UPROBE_EVENTS", ""},
    {Requirement::kKprobes, "kprobes", "this kernel has no kprobes ({0} is absent)",
     "use a kernel with CONFIG_KPROBE_EVENTS", ""},
    {Requirement::kProbeCapability, "probe-capability",
     "this kernel allows probes only with CAP_SYS_ADMIN", "run it as root, or grant it with",
     "sudo setcap cap_bpf,cap_perfmon,cap_syslog,cap_dac_read_search,cap_sys_admin+ep {0}"},
    {Requirement::kTrampolineCalls, "trampoline-calls",
     "this kernel cannot call a BPF program at a function (arm64 needs "
     "CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS)",
     "use kprobe:{0} instead", ""},
    {Requirement::kTrampolines, "trampolines",
     "the kernel refuses fentry and fexit programs for '{0}': {1}",
     "try a tracepoint or a kprobe instead", ""},
    {Requirement::kCgroups, "cgroups", "no cgroup hierarchy is mounted", "",
     "sudo mount -t cgroup2 none /sys/fs/cgroup"},
};

const RequirementRow& RowOf(Requirement requirement) {
  return *std::ranges::find(kRequirements, requirement, &RequirementRow::requirement);
}

constexpr std::size_t kMostWords = 3;
using Words = std::array<std::string_view, kMostWords>;

// The number in "{0}" at the start of `text`; nothing if there is none.
std::optional<std::size_t> WordAt(std::string_view text) {
  constexpr std::size_t kLength = 3;
  if (text.size() < kLength || text[0] != '{' || text[2] != '}') return std::nullopt;
  return static_cast<std::size_t>(text[1] - '0');
}

std::string Filled(std::string_view pattern, const Words& words) {
  std::string text;
  while (!pattern.empty()) {
    if (const std::optional<std::size_t> word = WordAt(pattern)) {
      text += words.at(*word);
      pattern.remove_prefix(3);
    } else {
      text += pattern.front();
      pattern.remove_prefix(1);
    }
  }
  return text;
}

Finding FindingOf(const RequirementRow& row, const Words& words) {
  return {.requirement = row.requirement,
          .problem = Filled(row.problem, words),
          .remedy = Filled(row.remedy, words),
          .command = Filled(row.command, words)};
}

struct MissingRequirements : ErrorDetail {
  explicit MissingRequirements(std::vector<Finding> about) : all(std::move(about)) {}

  std::vector<Finding> all;
};

// CAP_SYS_ADMIN includes the two capabilities that Linux 5.8 separated from it.
bool HasPart(const SystemFacts& facts, int capability) {
  return facts.Has(capability) || facts.Has(CAP_SYS_ADMIN);
}

}  // namespace

std::string Finding::text() const {
  std::string text = problem;
  if (!remedy.empty()) text.append(": ").append(remedy);
  if (!command.empty()) {
    text.append(remedy.empty() ? ": '" : " '").append(command).append("'");
  }
  return text;
}

std::string_view NameOf(Requirement requirement) {
  return RowOf(requirement).name;
}

Finding Missing(Requirement requirement, std::initializer_list<std::string_view> words) {
  Words all = {};
  std::ranges::copy(words, all.begin());
  return FindingOf(RowOf(requirement), all);
}

std::string TextOf(const std::vector<Finding>& findings) {
  std::string texts;
  for (const Finding& finding : findings) {
    if (!texts.empty()) texts += "; ";
    texts += finding.text();
  }
  return texts;
}

std::unexpected<Error> FailMissing(ErrorCode code, std::string_view what,
                                   std::vector<Finding> findings) {
  std::string message = TextOf(findings);
  if (!what.empty()) message = std::string(what) + ": " + message;
  return Fail({.code = code,
               .message = std::move(message),
               .detail = std::make_shared<MissingRequirements>(std::move(findings))});
}

std::unexpected<Error> FailBecause(Error error, std::vector<Finding> causes) {
  if (causes.empty()) return Fail(std::move(error));
  error.message += "; " + TextOf(causes);
  error.detail = std::make_shared<MissingRequirements>(std::move(causes));
  return Fail(std::move(error));
}

std::vector<Finding> FindingsOf(const Error& error) {
  const auto* const missing = dynamic_cast<const MissingRequirements*>(error.detail.get());
  return missing != nullptr ? missing->all : std::vector<Finding>();
}

std::filesystem::path RecorderFile() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  // A single file has all tools (tools/perftape.cc).
  return PERFTAPE_SINGLE_FILE != 0 ? self : self.parent_path() / "perftape-record";
}

std::string RecorderPath() {
  const std::string path = RecorderFile().string();
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._+-@%,";
  if (path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string quoted = "'";
  for (const char c : path) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::optional<Finding> WhyAddressesAreHidden(const SystemFacts& facts) {
  const int restrict = facts.kptr_restrict.value_or(0);
  const std::string value = std::to_string(restrict);
  if (restrict >= 2) return Missing(Requirement::kKptrRestrict, {value});
  if (facts.Has(CAP_SYSLOG)) return std::nullopt;
  if (restrict == 0 && facts.perf_paranoid.value_or(2) <= 1) return std::nullopt;
  return Missing(Requirement::kSyslog, {value, RecorderPath()});
}

std::string HiddenAddressesText() {
  const std::optional<Finding> why = WhyAddressesAreHidden(ReadSystemFacts());
  // If no reason is known, CAP_SYSLOG may be that of a user namespace.
  return "/proc/kallsyms hides addresses" + (why ? ": " + why->text() : "");
}

std::optional<Finding> MissingCapabilities(const SystemFacts& facts) {
  const bool has_bpf = HasPart(facts, CAP_BPF), has_perfmon = HasPart(facts, CAP_PERFMON);
  if (has_bpf && has_perfmon) return std::nullopt;
  const std::string_view names = has_bpf       ? "PERFMON is"
                                 : has_perfmon ? "BPF is"
                                               : "BPF and CAP_PERFMON are";
  return Missing(Requirement::kCapabilities, {names, RecorderPath()});
}

std::optional<Finding> WhyNoPrograms(const SystemFacts& facts) {
  if (facts.in_user_namespace) return Missing(Requirement::kUserNamespace);
  return MissingCapabilities(facts);
}

std::vector<Finding> MissingForPrograms(const SystemFacts& facts) {
  std::vector<Finding> missing;
  if (std::optional<Finding> why = WhyNoPrograms(facts)) missing.push_back(*std::move(why));
  if (!facts.has_btf) missing.push_back(Missing(Requirement::kBtf));
  if (facts.locked_down) missing.push_back(Missing(Requirement::kLockdown));
  if (facts.IsOlderThan(5, 8))
    missing.push_back(Missing(Requirement::kRingBuffer, {facts.release}));
  return missing;
}

std::string ProgramsRemedy(const SystemFacts& facts) {
  const std::vector<Finding> missing = MissingForPrograms(facts);
  return missing.empty() ? "use --sampler bpf" : missing.front().text();
}

Findings CheckFacts(const SystemFacts& facts) {
  Findings findings;
  std::vector<Finding>& missing = findings.missing;
  if (!facts.perf_paranoid) missing.push_back(Missing(Requirement::kPerfEvents));
  if (facts.in_user_namespace) missing.push_back(Missing(Requirement::kUserNamespace));
  if (std::optional<Finding> capabilities = MissingCapabilities(facts)) {
    missing.push_back(*std::move(capabilities));
    if (!HasPart(facts, CAP_PERFMON) && facts.perf_paranoid.value_or(-1) > 0) {
      missing.push_back(
          Missing(Requirement::kPerfParanoid, {std::to_string(*facts.perf_paranoid)}));
    }
  }
  if (!facts.has_btf) missing.push_back(Missing(Requirement::kBtf));
  if (facts.locked_down) missing.push_back(Missing(Requirement::kLockdown));
  if (std::optional<Finding> why = WhyAddressesAreHidden(facts)) {
    why->problem =
        "kernel functions will have no names, because the kernel hides their addresses: " +
        why->problem;
    findings.limits.push_back(*std::move(why));
  }
  return findings;
}

std::vector<Finding> LikelyCauses(const SystemFacts& facts, int error_number) {
  // Without a descriptor, the facts could not be read.
  if (error_number == EMFILE) return {Missing(Requirement::kOpenFiles)};
  std::vector<Finding> causes = CheckFacts(facts).missing;
  if (!causes.empty()) return causes;
  const bool is_refused = error_number == EPERM || error_number == EACCES;
  if (error_number == EINVAL && facts.IsOlderThan(5, 8)) {
    causes.push_back(Missing(Requirement::kRingBuffer, {facts.release}));
  }
  if ((is_refused || error_number == ENOMEM) && facts.locked_memory_kib &&
      facts.IsOlderThan(5, 11)) {
    causes.push_back(
        Missing(Requirement::kLockedMemory, {std::to_string(*facts.locked_memory_kib)}));
  }
  // ENOSYS is the other answer of container engines.
  if ((is_refused || error_number == ENOSYS) && facts.has_system_call_filter) {
    causes.push_back(Missing(Requirement::kSystemCallFilter));
  }
  return causes;
}

}  // namespace perftape::record
