// SPDX-License-Identifier: Apache-2.0
#include "record/machine/requirements.h"

#include <linux/capability.h>

#include <cerrno>
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

// CAP_SYS_ADMIN includes the two capabilities that Linux 5.8 separated from it.
bool HasPart(const SystemFacts& facts, int capability) {
  return facts.Has(capability) || facts.Has(CAP_SYS_ADMIN);
}

}  // namespace

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
