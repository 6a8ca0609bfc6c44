// SPDX-License-Identifier: Apache-2.0
#include "record/machine/system_facts.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "formats/base/file.h"

namespace perftape::record {
namespace {

// Returns the number after `field` in the text of /proc/self/status: "\nCapEff:\t".
std::optional<std::uint64_t> StatusField(std::string_view status, std::string_view field,
                                         int base) {
  const std::size_t at = status.find(field);
  if (at == std::string_view::npos) return std::nullopt;
  std::uint64_t value = 0;
  std::from_chars(status.data() + at + field.size(), status.data() + status.size(), value, base);
  return value;
}

std::uint64_t EffectiveCapabilities(const Result<std::string>& status) {
  if (!status) return geteuid() == 0 ? ~std::uint64_t{0} : 0;
  return StatusField(*status, "\nCapEff:\t", 16).value_or(0);
}

// Parses "none integrity [confidentiality]": the brackets mark the active mode.
bool IsLockedDown() {
  const Result<std::string> text = ReadWholeFile("/sys/kernel/security/lockdown");
  return text && text->find("[confidentiality]") != std::string::npos;
}

bool IsInUserNamespace() {
  constexpr std::uint32_t kInitial = 0xEFFFFFFD;  // include/linux/proc_ns.h, PROC_USER_INIT_INO
  struct stat ns = {};
  return stat("/proc/self/ns/user", &ns) == 0 && static_cast<std::uint32_t>(ns.st_ino) != kInitial;
}

std::string Release() {
  utsname system = {};
  return uname(&system) == 0 ? system.release : "";
}

std::optional<rlimit> LimitOf(decltype(RLIMIT_NOFILE) resource) {
  rlimit limit = {};
  if (getrlimit(resource, &limit) != 0) return std::nullopt;
  return limit;
}

std::optional<std::uint64_t> LockedMemoryKib() {
  const std::optional<rlimit> limit = LimitOf(RLIMIT_MEMLOCK);
  if (!limit || limit->rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit->rlim_cur >> 10;
}

std::optional<std::uint64_t> OpenFiles() {
  const std::optional<rlimit> limit = LimitOf(RLIMIT_NOFILE);
  if (!limit || limit->rlim_max == RLIM_INFINITY) return std::nullopt;
  return limit->rlim_max;
}

}  // namespace

bool SystemFacts::IsOlderThan(int major, int minor) const {
  int own_major = 0, own_minor = 0;
  if (std::sscanf(release.c_str(), "%d.%d", &own_major, &own_minor) != 2) return false;
  return std::pair(own_major, own_minor) < std::pair(major, minor);
}

SystemFacts ReadSystemFacts() {
  std::error_code ignored;
  const Result<std::string> status = ReadWholeFile("/proc/self/status");
  constexpr std::uint64_t kFilterMode = 2;  // linux/seccomp.h, SECCOMP_MODE_FILTER
  return {
      .capabilities = EffectiveCapabilities(status),
      .in_user_namespace = IsInUserNamespace(),
      .has_btf = std::filesystem::exists("/sys/kernel/btf/vmlinux", ignored),
      .perf_paranoid = ReadKernelSetting("perf_event_paranoid"),
      .kptr_restrict = ReadKernelSetting("kptr_restrict"),
      .locked_down = IsLockedDown(),
      .release = Release(),
      .locked_memory_kib = LockedMemoryKib(),
      .open_files = OpenFiles(),
      .has_system_call_filter = status && StatusField(*status, "\nSeccomp:\t", 10) == kFilterMode};
}

std::optional<int> ReadKernelSetting(std::string_view name) {
  const Result<std::string> text = ReadWholeFile(std::filesystem::path("/proc/sys/kernel") / name);
  if (!text) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

}  // namespace perftape::record
