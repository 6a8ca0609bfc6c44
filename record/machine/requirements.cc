// SPDX-License-Identifier: Apache-2.0
#include "record/machine/requirements.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <string_view>

#include "formats/base/file.h"
#include "record/machine/kernel_setting.h"

// Linux 5.8; some C library headers are older.
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

namespace perftape::record {
namespace {

// Parses "CapEff:\t000001ffffffffff" in /proc/self/status.
std::uint64_t EffectiveCapabilities() {
  constexpr std::string_view kField = "\nCapEff:\t";
  const Result<std::string> status = ReadWholeFile("/proc/self/status");
  if (!status) return geteuid() == 0 ? ~std::uint64_t{0} : 0;
  const std::size_t at = status->find(kField);
  if (at == std::string::npos) return 0;
  std::uint64_t capabilities = 0;
  std::from_chars(status->data() + at + kField.size(), status->data() + status->size(),
                  capabilities, 16);
  return capabilities;
}

// Parses "none integrity [confidentiality]": the brackets mark the active mode.
bool IsLockedDown() {
  const Result<std::string> text = ReadWholeFile("/sys/kernel/security/lockdown");
  return text && text->find("[confidentiality]") != std::string::npos;
}

// CAP_SYS_ADMIN includes the two capabilities that Linux 5.8 separated from it.
bool HasPart(const SystemFacts& facts, int capability) {
  return facts.Has(capability) || facts.Has(CAP_SYS_ADMIN);
}

std::string MissingCapabilities(const SystemFacts& facts) {
  std::string names;
  if (!HasPart(facts, CAP_BPF)) names = "CAP_BPF";
  if (!HasPart(facts, CAP_PERFMON)) names += names.empty() ? "CAP_PERFMON" : " and CAP_PERFMON";
  return names;
}

}  // namespace

std::string WhyAddressesAreHidden(const SystemFacts& facts) {
  const int restrict = facts.kptr_restrict.value_or(0);
  if (restrict >= 2) {
    return fmt::format(
        "kernel.kptr_restrict is {}, which hides them from root, too: 'sudo sysctl "
        "kernel.kptr_restrict=1'",
        restrict);
  }
  if (facts.Has(CAP_SYSLOG)) return "";
  if (restrict == 0 && facts.perf_paranoid.value_or(2) <= 1) return "";
  return fmt::format(
      "CAP_SYSLOG is missing (kernel.kptr_restrict is {}): run it as root, or grant "
      "it",
      restrict);
}

SystemFacts ReadSystemFacts() {
  std::error_code ignored;
  return {.capabilities = EffectiveCapabilities(),
          .has_btf = std::filesystem::exists("/sys/kernel/btf/vmlinux", ignored),
          .perf_paranoid = ReadKernelSetting("perf_event_paranoid"),
          .kptr_restrict = ReadKernelSetting("kptr_restrict"),
          .locked_down = IsLockedDown()};
}

std::string HiddenAddressesText() {
  const std::string why = WhyAddressesAreHidden(ReadSystemFacts());
  // If no reason is known, CAP_SYSLOG may be that of a user namespace.
  return "/proc/kallsyms hides addresses" + (why.empty() ? "" : ": " + why);
}

Findings CheckFacts(const SystemFacts& facts) {
  Findings findings;
  if (!facts.perf_paranoid) {
    findings.missing.emplace_back(
        "the kernel has no perf events (CONFIG_PERF_EVENTS): take a kernel that has them");
  }
  if (const std::string names = MissingCapabilities(facts); !names.empty()) {
    findings.missing.push_back(
        fmt::format("{} missing: run it as root, or grant them once with "
                    "'sudo setcap cap_bpf,cap_perfmon,cap_syslog+ep' on the executable",
                    names.find(' ') == std::string::npos ? names + " is" : names + " are"));
    if (!HasPart(facts, CAP_PERFMON) && facts.perf_paranoid.value_or(-1) > 0) {
      findings.missing.push_back(fmt::format(
          "kernel.perf_event_paranoid is {}, which keeps users without CAP_PERFMON from "
          "watching a whole CPU: the same remedy",
          *facts.perf_paranoid));
    }
  }
  if (!facts.has_btf) {
    findings.missing.emplace_back(
        "the kernel does not describe its types (/sys/kernel/btf/vmlinux is absent): take one "
        "built "
        "with CONFIG_DEBUG_INFO_BTF, as distributions do since 2020");
  }
  if (facts.locked_down) {
    findings.missing.emplace_back(
        "the kernel is locked down (lockdown=confidentiality), so that BPF may not read it: boot "
        "with lockdown=integrity or without");
  }
  if (const std::string why = WhyAddressesAreHidden(facts); !why.empty()) {
    findings.limits.push_back(
        "kernel functions will have no names, because the kernel hides their addresses: " + why);
  }
  return findings;
}

}  // namespace perftape::record
