// SPDX-License-Identifier: Apache-2.0
#include "record/scope/cgroup_files.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "formats/base/duration.h"
#include "formats/base/file.h"
#include "formats/base/text.h"
#include "record/machine/proc_files.h"

namespace perftape::record {
namespace {

using bundle::CgroupUse;
using bundle::NotedCgroup;
using bundle::NotedIoLimit;

constexpr std::size_t kLargestFile = std::size_t{1} << 20;
constexpr std::size_t kMostIoLimits = 16;
constexpr std::uint64_t kNsPerUs = 1000;
// memory.limit_in_bytes of a cgroup without a limit is the largest multiple of a page.
constexpr std::uint64_t kNoMemoryLimit = std::uint64_t{1} << 62;

// The content of a file; empty if it cannot be read.
std::string Content(const std::filesystem::path& file) {
  return ReadWholeFile(file, kLargestFile).value_or("");
}

// Sets `number` to that in a file, unless it has none. "max" is 0: no limit.
void ReadNumber(const std::filesystem::path& file, std::uint64_t& number) {
  const std::string content = Content(file);
  const std::string_view text = Trimmed(Trimmed(content).substr(0, content.find('\n')));
  if (const auto value = ParseNumber(text)) {
    number = *value;
  } else if (text == "max" || text == "-1") {
    number = 0;
  }
}

// Sets the numbers of a file whose lines are "KEY VALUE".
struct KeyedNumber {
  std::string_view key;
  std::uint64_t& number;
};
void ReadKeyed(const std::filesystem::path& file, std::initializer_list<KeyedNumber> wanted) {
  const std::string content = Content(file);
  std::string_view left = content;
  while (std::optional<std::string_view> line = NextLine(left)) {
    const std::string_view key = NextField(*line, ' ');
    for (const KeyedNumber& one : wanted) {
      if (one.key == key) one.number = ParseNumber(*line).value_or(one.number);
    }
  }
}

void ReadCpu(const std::filesystem::path& directory, CgroupVersion version, NotedCgroup& cgroup) {
  CgroupUse& use = cgroup.last;
  const std::filesystem::path stat = directory / "cpu.stat";
  if (version == CgroupVersion::kV1) {
    ReadNumber(directory / "cpu.cfs_quota_us", cgroup.cpu_quota_us);
    ReadNumber(directory / "cpu.cfs_period_us", cgroup.cpu_period_us);
    ReadKeyed(stat, {{"nr_periods", use.periods},
                     {"nr_throttled", use.throttled_periods},
                     {"throttled_time", use.throttled_ns}});
    return;
  }
  const std::string limit = Content(directory / "cpu.max");  // "max 100000"
  std::string_view period = Trimmed(Trimmed(limit).substr(0, limit.find('\n')));
  const std::string_view quota = NextField(period, ' ');
  if (!quota.empty()) {
    cgroup.cpu_quota_us = ParseNumber(quota).value_or(0);
    cgroup.cpu_period_us = ParseNumber(period).value_or(0);
  }
  std::uint64_t used_us = use.cpu_ns / kNsPerUs, throttled_us = use.throttled_ns / kNsPerUs;
  ReadKeyed(stat, {{"usage_usec", used_us},
                   {"nr_periods", use.periods},
                   {"nr_throttled", use.throttled_periods},
                   {"throttled_usec", throttled_us}});
  use.cpu_ns = used_us * kNsPerUs;
  use.throttled_ns = throttled_us * kNsPerUs;
}

void ReadCpuAccounting(const std::filesystem::path& directory, CgroupVersion version,
                       NotedCgroup& cgroup) {
  // In version 2 cpu.stat has it.
  if (version == CgroupVersion::kV1) ReadNumber(directory / "cpuacct.usage", cgroup.last.cpu_ns);
}

void ReadMemory(const std::filesystem::path& directory, CgroupVersion version,
                NotedCgroup& cgroup) {
  CgroupUse& use = cgroup.last;
  std::uint64_t inactive_file = 0, used = 0;
  if (version == CgroupVersion::kV1) {
    ReadNumber(directory / "memory.limit_in_bytes", cgroup.memory_limit);
    ReadNumber(directory / "memory.usage_in_bytes", used);
    ReadNumber(directory / "memory.failcnt", use.memory_failures);
    ReadKeyed(directory / "memory.oom_control", {{"oom_kill", use.oom_kills}});
    ReadKeyed(directory / "memory.stat", {{"total_inactive_file", inactive_file}});
    if (cgroup.memory_limit >= kNoMemoryLimit) cgroup.memory_limit = 0;
  } else {
    ReadNumber(directory / "memory.max", cgroup.memory_limit);
    ReadNumber(directory / "memory.current", used);
    ReadKeyed(directory / "memory.events",
              {{"max", use.memory_failures}, {"oom_kill", use.oom_kills}});
    ReadKeyed(directory / "memory.stat", {{"inactive_file", inactive_file}});
  }
  if (used == 0) return;
  use.memory_bytes = used - std::min(used, inactive_file);
}

// Sets the limit of a device, or what it did so far.
void SetIo(NotedCgroup& cgroup, std::string_view device, std::string_view kind,
           std::uint64_t NotedIoLimit::*member, std::uint64_t value) {
  for (NotedIoLimit& limit : cgroup.io_limits) {
    if (limit.device == device && limit.kind == kind) {
      limit.*member = value;
      return;
    }
  }
  const bool is_limit = member == &NotedIoLimit::limit && value != 0;
  if (!is_limit || cgroup.io_limits.size() == kMostIoLimits) return;
  NotedIoLimit limit{.device = std::string(device), .kind = std::string(kind), .limit = value};
  cgroup.io_limits.push_back(std::move(limit));
}

// A line of version 2: "8:16 rbps=2097152 wbps=max riops=max wiops=120" of io.max, "8:16
// rbytes=1459200 wbytes=314773504 rios=192 wios=353 ..." of io.stat.
void ReadIoLines(const std::filesystem::path& file, NotedCgroup& cgroup,
                 std::uint64_t NotedIoLimit::*member) {
  constexpr std::pair<std::string_view, std::string_view> kKinds[] = {
      {"rbytes", "rbps"}, {"wbytes", "wbps"}, {"rios", "riops"}, {"wios", "wiops"}};
  const std::string content = Content(file);
  std::string_view left = content;
  while (std::optional<std::string_view> line = NextLine(left)) {
    const std::string_view device = NextField(*line, ' ');
    while (!line->empty()) {
      std::string_view value = NextField(*line, ' ');
      std::string_view key = NextField(value, '=');
      for (const auto& [in_stat, kind] : kKinds) {
        if (key == in_stat) key = kind;
      }
      SetIo(cgroup, device, key, member, ParseNumber(value).value_or(0));
    }
  }
}

// Files of version 1: "7:0 1048576" of a limit, "7:0 Write 4096" of what was done.
void ReadIoV1(const std::filesystem::path& directory, NotedCgroup& cgroup) {
  struct Kind {
    std::string_view kind, limit, done, operation;
  };
  constexpr Kind kKinds[] = {{"rbps", "read_bps_device", "io_service_bytes", "Read"},
                             {"wbps", "write_bps_device", "io_service_bytes", "Write"},
                             {"riops", "read_iops_device", "io_serviced", "Read"},
                             {"wiops", "write_iops_device", "io_serviced", "Write"}};
  const auto lines_of = [&](std::string_view name) {
    return Content(directory / std::string("blkio.throttle.").append(name));
  };
  for (const Kind& of : kKinds) {
    const std::string limits = lines_of(of.limit);
    std::string_view left = limits;
    while (std::optional<std::string_view> line = NextLine(left)) {
      const std::string_view device = NextField(*line, ' ');
      if (const auto limit = ParseNumber(*line)) {
        SetIo(cgroup, device, of.kind, &NotedIoLimit::limit, *limit);
      }
    }
    if (limits.empty()) continue;
    const std::string done = lines_of(of.done);
    left = done;
    while (std::optional<std::string_view> line = NextLine(left)) {
      const std::string_view device = NextField(*line, ' ');
      if (NextField(*line, ' ') != of.operation) continue;
      if (const auto count = ParseNumber(*line)) {
        SetIo(cgroup, device, of.kind, &NotedIoLimit::last, *count);
      }
    }
  }
}

void ReadIo(const std::filesystem::path& directory, CgroupVersion version, NotedCgroup& cgroup) {
  if (version == CgroupVersion::kV1) {
    ReadIoV1(directory, cgroup);
    return;
  }
  ReadIoLines(directory / "io.max", cgroup, &NotedIoLimit::limit);
  if (!cgroup.io_limits.empty()) {
    ReadIoLines(directory / "io.stat", cgroup, &NotedIoLimit::last);
  }
}

void ReadTasks(const std::filesystem::path& directory, CgroupVersion /*version*/,
               NotedCgroup& cgroup) {
  ReadNumber(directory / "pids.max", cgroup.task_limit);
  ReadNumber(directory / "pids.current", cgroup.last.tasks);
  ReadKeyed(directory / "pids.events", {{"max", cgroup.last.tasks_refused}});
}

constexpr UsageController kControllers[] = {
    {"cpu", "cpu", &ReadCpu},          {"cpuacct", "cpuacct", &ReadCpuAccounting},
    {"memory", "memory", &ReadMemory}, {"io", "blkio", &ReadIo},
    {"pids", "pids", &ReadTasks},
};

}  // namespace

std::vector<MountedController> FindUsageControllers(std::span<const CgroupHierarchy> hierarchies) {
  std::vector<MountedController> found;
  for (const UsageController& controller : kControllers) {
    const auto has_it = [&](const CgroupHierarchy& hierarchy) {
      return std::ranges::count(hierarchy.controllers, controller.v1_name) > 0;
    };
    auto mounted = std::ranges::find_if(hierarchies, has_it);
    const bool is_v1 = mounted != hierarchies.end();
    if (!is_v1) mounted = std::ranges::find_if(hierarchies, &CgroupHierarchy::is_v2);
    if (mounted == hierarchies.end()) continue;
    found.push_back({.controller = &controller,
                     .version = is_v1 ? CgroupVersion::kV1 : CgroupVersion::kV2,
                     .mount = mounted->mount});
  }
  return found;
}

}  // namespace perftape::record
