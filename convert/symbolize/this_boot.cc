// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/this_boot.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <string_view>

#include "formats/base/duration.h"
#include "formats/base/file.h"
#include "formats/elf/build_id.h"
#include "formats/kallsyms/kallsyms.h"

namespace perftape::symbolize {
namespace {

// Tolerance: clocks are read one after the other, and file systems round times.
constexpr std::int64_t kSlackNs = kNsPerSecond;

std::string BootId() {
  auto text = ReadWholeFile("/proc/sys/kernel/random/boot_id");
  if (!text) return {};
  while (text->ends_with('\n')) text->pop_back();
  return *std::move(text);
}

std::int64_t Nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * kNsPerSecond + time.tv_nsec;
}

std::optional<std::int64_t> BootTime() {
  timespec wall = {}, since_boot = {};
  if (clock_gettime(CLOCK_REALTIME, &wall) != 0) return {};
  if (clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return {};
  return Nanoseconds(wall) - Nanoseconds(since_boot);
}

// Reads only the start of /proc/kallsyms, which begins with _text, or with some hundred per-CPU
// variables before it. Reading all of it would take longer than many recordings.
std::uint64_t RunningKernelText() {
  const UniqueFd fd(open("/proc/kallsyms", O_RDONLY | O_CLOEXEC));
  if (!fd) return 0;
  std::string text(std::size_t{128} << 10, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = read(fd.get(), text.data() + filled, text.size() - filled);
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  text.resize(text.rfind('\n', filled) == std::string::npos ? 0 : text.rfind('\n', filled) + 1);
  const auto table = kallsyms::Kallsyms::Parse(std::move(text));
  if (!table) return 0;
  const auto reference = table->AddressOf("_text");
  return reference ? reference->value : 0;
}

BootFacts ReadFacts() {
  BootFacts facts = {.boot_id = BootId(), .booted_ns = BootTime()};
  utsname names = {};
  if (uname(&names) == 0) {
    facts.host = names.nodename;
    facts.kernel_release = names.release;
  }
  if (const auto notes = ReadWholeFile("/sys/kernel/notes")) {
    facts.kernel_build_id = elf::BuildIdFromNotes(AsBytes(*notes));
  }
  facts.kernel_text = RunningKernelText();
  return facts;
}

}  // namespace

const BootFacts& FactsOfThisBoot() {
  static const BootFacts facts = ReadFacts();
  return facts;
}

namespace {

// Returns what contradicts that both are of one boot; empty if nothing does.
std::string Contradiction(const BootFacts& recorded, const BootFacts& here) {
  if (!recorded.kernel_build_id.empty() && !here.kernel_build_id.empty() &&
      !here.kernel_build_id.Matches(recorded.kernel_build_id)) {
    return "it was recorded on the kernel with build id " + recorded.kernel_build_id.hex();
  }
  if (recorded.kernel_text != 0 && here.kernel_text != 0 &&
      recorded.kernel_text != here.kernel_text) {
    return "the kernel was at another address when it was recorded: in another boot";
  }
  if (recorded.made_ns && here.booted_ns && *recorded.made_ns + kSlackNs < *here.booted_ns) {
    return "it was recorded before this machine was booted";
  }
  return "";
}

}  // namespace

bool MayBeOfBoot(const BootFacts& recorded, const BootFacts& here) {
  const bool is_unnamed = recorded.boot_id.empty() && recorded.host.empty();
  return is_unnamed && Contradiction(recorded, here).empty();
}

std::string DifferenceOfBoots(const BootFacts& recorded, const BootFacts& here) {
  if (!recorded.boot_id.empty() && !here.boot_id.empty()) {
    return recorded.boot_id == here.boot_id ? "" : "it was recorded in another boot";
  }
  if (recorded.host.empty() || recorded.kernel_release.empty()) {
    return "it does not say on which machine it was recorded";
  }
  if (recorded.host != here.host) return "it was recorded on host " + recorded.host;
  if (recorded.kernel_release != here.kernel_release) {
    return "it was recorded on kernel " + recorded.kernel_release;
  }
  return Contradiction(recorded, here);
}

}  // namespace perftape::symbolize
