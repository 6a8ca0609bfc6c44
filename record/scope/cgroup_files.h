// SPDX-License-Identifier: Apache-2.0
// Reads the limits and the usage of a cgroup from the files of its controllers, of version 2
// (Documentation/admin-guide/cgroup-v2.rst) and of version 1 (cgroup-v1/; the files of CPU limits
// are in Documentation/scheduler/sched-bwc.rst).
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "formats/bundle/noted_cgroups.h"
#include "record/scope/cgroups.h"

namespace perftape::record {

enum class CgroupVersion : std::uint8_t { kV1, kV2 };

// A controller whose files are read: cpu, cpuacct (of version 1 only), memory, io, pids.
struct UsageController {
  std::string_view name;     // of version 2: "io"
  std::string_view v1_name;  // "blkio"
  // Reads its files in `directory` into the limits, into `last` and into `io_limits`. What cannot
  // be read keeps its value: the cgroup may have been removed.
  void (*read)(const std::filesystem::path& directory, CgroupVersion version,
               bundle::NotedCgroup& cgroup);
};

// Where a controller is mounted.
struct MountedController {
  const UsageController* controller = nullptr;
  CgroupVersion version = CgroupVersion::kV2;
  std::filesystem::path mount = {};
};

// Returns where each controller is mounted. Those that no hierarchy of version 1 has are in that of
// version 2, if there is one.
std::vector<MountedController> FindUsageControllers(std::span<const CgroupHierarchy> hierarchies);

}  // namespace perftape::record
