// SPDX-License-Identifier: Apache-2.0
#include "formats/base/process_identity.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string_view>
#include <vector>

#include "formats/base/duration.h"
#include "formats/base/file.h"

namespace perftape {
inline namespace base {
namespace {

std::int64_t Nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * kNsPerSecond + time.tv_nsec;
}

template <class Number>
bool Parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

// Splits at runs of blanks.
std::vector<std::string_view> Words(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(" \t\n", at)) != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(" \t\n", at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// Returns the values in a line of /proc/PID/status: "Uid:\t1000\t1001\t1000\t1000" (real,
// effective, saved, file system), "NSpid:\t4711\t7".
std::vector<std::string_view> ValuesOf(std::string_view status, std::string_view key) {
  const std::size_t line = status.find(key);
  if (line == std::string_view::npos) return {};
  const std::size_t start = line + key.size();
  return Words(status.substr(start, std::min(status.find('\n', start), status.size()) - start));
}

// Field 22 of /proc/PID/stat counts ticks since the boot (Documentation/filesystems/proc.rst). The
// name before it may contain blanks and parentheses.
std::optional<std::int64_t> StartOf(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> fields = Words(stat.substr(name_end + 1));
  constexpr std::size_t kStart = 22 - 3;  // the first of these fields is number 3
  std::int64_t ticks = 0;
  if (fields.size() <= kStart || !Parse(fields[kStart], ticks)) return std::nullopt;
  timespec wall = {}, since_boot = {};
  if (clock_gettime(CLOCK_REALTIME, &wall) != 0) return std::nullopt;
  if (clock_gettime(CLOCK_BOOTTIME, &since_boot) != 0) return std::nullopt;
  const std::int64_t ticks_a_second = sysconf(_SC_CLK_TCK);
  constexpr std::int64_t kMostSeconds = std::int64_t{1} << 32;
  if (ticks < 0 || ticks_a_second <= 0 || ticks / ticks_a_second > kMostSeconds) return {};
  const std::int64_t started = ticks / ticks_a_second * kNsPerSecond +
                               ticks % ticks_a_second * kNsPerSecond / ticks_a_second;
  return Nanoseconds(wall) - Nanoseconds(since_boot) + started;
}

}  // namespace

std::optional<ProcessIdentity> ReadProcessIdentity(const std::filesystem::path& proc,
                                                   std::uint32_t pid) {
  const std::filesystem::path directory = proc / std::to_string(pid);
  const auto stat = ReadWholeFile(directory / "stat");
  const auto status = ReadWholeFile(directory / "status");
  if (!stat || !status) return std::nullopt;
  const std::optional<std::int64_t> started_ns = StartOf(*stat);
  const std::vector<std::string_view> users = ValuesOf(*status, "\nUid:");
  const std::vector<std::string_view> pids = ValuesOf(*status, "\nNSpid:");
  ProcessIdentity identity;
  if (!started_ns || users.size() < 2 || !Parse(users[1], identity.user)) return std::nullopt;
  identity.started_ns = *started_ns;
  identity.own_pid = pid;
  if (!pids.empty() && !Parse(pids.back(), identity.own_pid)) return std::nullopt;
  identity.is_in_other_namespace = pids.size() > 1;
  identity.is_kernel_thread = status->find("\nVm") == std::string::npos;
  return identity;
}

std::int64_t ModifiedNs(const struct stat& file) {
  return Nanoseconds(file.st_mtim);
}

std::int64_t WallClockNs() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return Nanoseconds(now);
}

std::string WhyNotOwnedBy(const ProcessIdentity& process, const struct stat& file) {
  if (file.st_uid == process.user || file.st_uid == 0) return {};
  return "owned by user " + std::to_string(file.st_uid) + ", but its process belongs to user " +
         std::to_string(process.user);
}

std::string WhyNotSince(std::int64_t started_ns, const struct stat& file) {
  if (ModifiedNs(file) >= started_ns - kStartSlackNs) return {};
  return "older than its process: another process had this number before";
}

}  // namespace base
}  // namespace perftape
