// SPDX-License-Identifier: Apache-2.0
#include "record/scope/cgroup_usage.h"

#include <algorithm>
#include <iterator>
#include <ranges>
#include <utility>

#include "formats/base/duration.h"
#include "formats/base/file.h"
#include "record/machine/proc_files.h"

namespace perftape::record {
namespace {

using bundle::CgroupUse;
using bundle::NotedCgroup;
using bundle::NotedIoLimit;

constexpr std::size_t kMostCgroups = 256;
constexpr std::size_t kMostPids = 1024;       // of a cgroup
constexpr std::size_t kMostProcesses = 8192;  // that are known
constexpr std::size_t kMostNew = 256;         // processes that one Check reads
constexpr std::uint64_t kReadInterval = kNsPerSecond;
// A cgroup takes some 0.1 ms. So a Check never delays the recording by much.
constexpr std::chrono::milliseconds kLongestRound{10};

// The lines of /proc/PID/cgroup: "4:memory:/app", of version 2 "0::/app".
struct CgroupLine {
  std::string_view controllers, path;
};

CgroupLine ParseLine(std::string_view line) {
  NextField(line, ':');
  const std::string_view controllers = NextField(line, ':');
  return {controllers, line};
}

bool HasWord(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (NextField(list, ',') == word) return true;
  }
  return false;
}

// The directory that a cgroup is in: "/a" of "/a/b", "/" of "/a"; empty of "/".
std::string_view ParentOf(std::string_view path) {
  const std::size_t slash = path.find_last_of('/');
  if (path == "/" || slash == std::string_view::npos) return {};
  return slash == 0 ? path.substr(0, 1) : path.substr(0, slash);
}

}  // namespace

CgroupUsage::CgroupUsage(std::vector<MountedController> controllers, PodNames names,
                         std::filesystem::path proc)
    : controllers_(std::move(controllers)), proc_(std::move(proc)), containers_(std::move(names)) {}

void CgroupUsage::AddProcess(std::uint32_t pid) {
  if (known_.size() == kMostProcesses || !known_.insert(pid).second) return;
  new_.push_back(pid);
}

void CgroupUsage::AddFork(std::uint32_t pid, std::uint32_t parent) {
  if (pid == parent) return;
  for (Watched& cgroup : cgroups_ | std::views::values) {
    if (!cgroup.pids.contains(parent)) continue;
    cgroup.AddPid(pid);
    AddProcess(pid);  // it may enter another one
  }
}

void CgroupUsage::Watched::AddPid(std::uint32_t pid) {
  if (!pids.insert(pid).second) return;
  if (noted.pids.size() == kMostPids) {
    pids.erase(noted.pids.front());
    noted.pids.erase(noted.pids.begin());
  }
  noted.pids.push_back(pid);
}

void CgroupUsage::Watched::FindPeaks(std::uint64_t now_ns) {
  if (noted.last.memory_bytes > noted.memory_peak) {
    noted.memory_peak = noted.last.memory_bytes;
    noted.memory_peak_ns = now_ns;
  }
  // A rate over less time says little.
  if (before_ns != 0 && now_ns - before_ns < kReadInterval / 2) return;
  const double seconds = static_cast<double>(now_ns - before_ns) / kNsPerSecond;
  for (NotedIoLimit& limit : noted.io_limits) {
    const auto same = std::ranges::find_if(before, [&](const NotedIoLimit& one) {
      return one.device == limit.device && one.kind == limit.kind;
    });
    if (same == before.end()) continue;
    const auto done = static_cast<double>(limit.last - std::min(limit.last, same->last));
    limit.peak = std::max(limit.peak, static_cast<std::uint64_t>(done / seconds));
  }
  before = noted.io_limits;
  before_ns = now_ns;
}

void CgroupUsage::Check(std::uint64_t now_ns) {
  containers_.AddAnswers();
  const std::size_t count = std::min(new_.size(), kMostNew);
  for (const std::uint32_t pid : new_ | std::views::take(count)) {
    if (!AddCgroupsOf(pid, now_ns)) known_.erase(pid);
  }
  new_.erase(new_.begin(), new_.begin() + static_cast<std::ptrdiff_t>(count));

  const bool goes_on = next_process_ || next_cgroup_;
  if (!goes_on && now_ns - read_ns_ < kReadInterval) return;
  if (!goes_on) {
    read_ns_ = now_ns;
    next_process_ = 0;
    next_cgroup_ = "";
  }
  const auto end = std::chrono::steady_clock::now() + kLongestRound;
  ReadProcesses(now_ns, end);
  ReadCgroups(now_ns, end);
}

void CgroupUsage::ReadProcesses(std::uint64_t now_ns, std::chrono::steady_clock::time_point end) {
  if (!next_process_) return;
  auto at = known_.lower_bound(*next_process_);
  while (at != known_.end() && std::chrono::steady_clock::now() < end) {
    at = AddCgroupsOf(*at, now_ns) ? std::next(at) : known_.erase(at);
  }
  next_process_ = at == known_.end() ? std::optional<std::uint32_t>() : *at;
}

void CgroupUsage::ReadCgroups(std::uint64_t now_ns, std::chrono::steady_clock::time_point end) {
  if (!next_cgroup_) return;
  auto at = cgroups_.lower_bound(*next_cgroup_);
  for (; at != cgroups_.end() && std::chrono::steady_clock::now() < end; ++at) {
    Read(at->second, now_ns);
  }
  next_cgroup_ = at == cgroups_.end() ? std::optional<std::string>() : at->first;
}

void CgroupUsage::ReadAll(std::uint64_t now_ns) {
  new_.clear();
  for (const std::uint32_t pid : known_) (void)AddCgroupsOf(pid, now_ns);
  for (Watched& cgroup : cgroups_ | std::views::values) Read(cgroup, now_ns);
  containers_.AddMissingNames();
}

bool CgroupUsage::AddCgroupsOf(std::uint32_t pid, std::uint64_t now_ns) {
  constexpr std::size_t kLargestList = std::size_t{1} << 16;
  const Result<std::string> content =
      ReadWholeFile(proc_ / std::to_string(pid) / "cgroup", kLargestList);
  if (!content) return false;
  std::string_view left = *content;
  while (const std::optional<std::string_view> line = NextLine(left)) {
    const CgroupLine cgroup = ParseLine(*line);
    std::uint32_t controllers = 0;
    for (std::size_t i = 0; i < controllers_.size(); ++i) {
      const MountedController& mounted = controllers_[i];
      const bool is_here = mounted.version == CgroupVersion::kV2
                               ? cgroup.controllers.empty()
                               : HasWord(cgroup.controllers, mounted.controller->v1_name);
      if (is_here) controllers |= std::uint32_t{1} << i;
    }
    // Outside of the cgroup namespace of the recorder, a path begins with "/..".
    if (controllers == 0 || !cgroup.path.starts_with('/') || cgroup.path.starts_with("/..")) {
      continue;
    }
    for (std::string_view path = cgroup.path; !path.empty(); path = ParentOf(path)) {
      Watch(path, controllers, pid, now_ns);
    }
  }
  return true;
}

void CgroupUsage::Watch(std::string_view path, std::uint32_t controllers, std::uint32_t pid,
                        std::uint64_t now_ns) {
  auto found = cgroups_.find(path);
  if (found == cgroups_.end()) {
    if (cgroups_.size() == kMostCgroups) return;
    found = cgroups_.try_emplace(std::string(path)).first;
    found->second.noted.path = path;
    containers_.Add(path);
  }
  Watched& cgroup = found->second;
  const bool is_new = (controllers & ~cgroup.controllers) != 0;
  cgroup.controllers |= controllers;
  cgroup.AddPid(pid);
  if (!is_new) return;
  cgroup.is_read = false;  // its first reading has all controllers
  Read(cgroup, now_ns);
}

void CgroupUsage::Read(Watched& cgroup, std::uint64_t now_ns) const {
  bool is_there = false;
  for (std::size_t i = 0; i < controllers_.size(); ++i) {
    if ((cgroup.controllers >> i & 1) == 0) continue;
    const MountedController& mounted = controllers_[i];
    const std::filesystem::path directory = mounted.mount.string() + cgroup.noted.path;
    std::error_code error;
    if (!std::filesystem::is_directory(directory, error)) continue;
    is_there = true;
    mounted.controller->read(directory, mounted.version, cgroup.noted);
  }
  if (!is_there) return;  // it is gone: the last reading stays
  cgroup.noted.last.time_ns = now_ns;
  cgroup.FindPeaks(now_ns);
  if (std::exchange(cgroup.is_read, true)) return;
  cgroup.noted.first = cgroup.noted.last;
  for (bundle::NotedIoLimit& limit : cgroup.noted.io_limits) limit.first = limit.last;
}

std::vector<NotedCgroup> CgroupUsage::Noted() const {
  std::vector<NotedCgroup> noted;
  for (const Watched& cgroup : cgroups_ | std::views::values) {
    const bool says_something = cgroup.noted.path != "/" || bundle::HasLimit(cgroup.noted);
    if (cgroup.is_read && says_something) noted.push_back(cgroup.noted);
  }
  return noted;
}

}  // namespace perftape::record
