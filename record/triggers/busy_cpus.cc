// SPDX-License-Identifier: Apache-2.0
#include "record/triggers/busy_cpus.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>

#include "record/machine/proc_files.h"

namespace perftape::record {
namespace {

// Reading /proc/stat takes the kernel up to milliseconds on a machine with many CPUs.
constexpr std::uint64_t kReadingsPerWindow = 10;
constexpr std::uint64_t kShortestPauseNs = 100'000'000;

constexpr std::string_view kCpuLine = "cpu";

// "cpu0 user nice system idle iowait irq softirq steal guest guest_nice"; user includes guest.
CpuTicks TicksOf(std::string_view line) {
  constexpr std::size_t kColumns = 8, kIdle = 3, kIoWait = 4;
  CpuTicks ticks;
  for (std::size_t column = 0; column < kColumns; ++column) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::uint64_t value = ParseNumber(NextField(line, ' ')).value_or(0);
    ticks.all += value;
    if (column != kIdle && column != kIoWait) ticks.busy += value;
  }
  return ticks;
}

Result<std::string> ReadFromStart(int fd) {
  std::string text;
  std::array<char, 16384> buffer;
  while (true) {
    const ssize_t size = ::pread(fd, buffer.data(), buffer.size(), static_cast<off_t>(text.size()));
    if (size < 0) return FailErrno("/proc/stat", errno);
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(size));
    // The lines of the CPUs come first.
    if (text.contains("\nintr ")) return text;
  }
}

}  // namespace

CpuTicks SumCpuTicks(std::string_view stat, const std::vector<int>& cpus) {
  CpuTicks sum;
  while (const std::optional<std::string_view> found = NextLine(stat)) {
    std::string_view line = *found;
    if (!line.starts_with(kCpuLine)) continue;
    line.remove_prefix(kCpuLine.size());
    const std::optional<std::uint64_t> number = ParseNumber(NextField(line, ' '));
    if (!number) continue;  // the line of all
    const bool is_recorded =
        cpus.empty() || std::ranges::find(cpus, static_cast<int>(*number)) != cpus.end();
    if (!is_recorded) continue;
    const CpuTicks ticks = TicksOf(line);
    sum.busy += ticks.busy;
    sum.all += ticks.all;
  }
  return sum;
}

BusyWindow::BusyWindow(const BusyCondition& condition)
    : percent_(condition.percent),
      window_ns_(static_cast<std::uint64_t>(condition.window.count())) {}

bool BusyWindow::IsDue(std::uint64_t now_ns) const {
  const std::uint64_t pause_ns = std::max(kShortestPauseNs, window_ns_ / kReadingsPerWindow);
  return readings_.empty() || now_ns >= readings_.back().time_ns + pause_ns;
}

std::optional<double> BusyWindow::Add(std::uint64_t now_ns, const CpuTicks& ticks) {
  readings_.push_back({.time_ns = now_ns, .ticks = ticks});
  while (readings_.size() > 2 && readings_[1].time_ns + window_ns_ <= now_ns) {
    readings_.pop_front();
  }
  const Reading& first = readings_.front();
  // A CPU that goes offline takes its ticks with it.
  if (ticks.all <= first.ticks.all || ticks.busy < first.ticks.busy) {
    if (ticks.all < first.ticks.all) readings_.erase(readings_.begin(), readings_.end() - 1);
    return std::nullopt;
  }
  if (first.time_ns + window_ns_ > now_ns) return std::nullopt;
  const double percent = 100.0 * static_cast<double>(ticks.busy - first.ticks.busy) /
                         static_cast<double>(ticks.all - first.ticks.all);
  if (percent <= percent_) return std::nullopt;
  readings_.erase(readings_.begin(), readings_.end() - 1);
  return percent;
}

Result<BusyCpus> BusyCpus::Open(const BusyCondition& condition, std::vector<int> cpus) {
  UniqueFd stat(::open("/proc/stat", O_RDONLY | O_CLOEXEC));
  if (!stat) return FailErrno("/proc/stat", errno);
  return BusyCpus(condition, std::move(cpus), std::move(stat));
}

std::optional<double> BusyCpus::Check(std::uint64_t now_ns) {
  if (!window_.IsDue(now_ns)) return std::nullopt;
  const Result<std::string> text = ReadFromStart(stat_.get());
  if (!text) return std::nullopt;
  return window_.Add(now_ns, SumCpuTicks(*text, cpus_));
}

}  // namespace perftape::record
