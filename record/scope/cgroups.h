// SPDX-License-Identifier: Apache-2.0
// The mounted cgroup hierarchies (cgroups(7)), their directories, and the paths that they have in
// the records of the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"

namespace perftape::record {

struct CgroupHierarchy {
  std::filesystem::path mount = {};           // "/sys/fs/cgroup/unified"
  std::vector<std::string> controllers = {};  // of version 1, as mounted: "cpu"; version 2: none
  // Whether the kernel's CGROUP records and perf's samples name the cgroups of this hierarchy
  // (kernel/events/core.c, perf_event_cgroup and PERF_SAMPLE_CGROUP).
  bool is_perfs = false;

  bool is_v2() const { return controllers.empty(); }
  bool operator==(const CgroupHierarchy&) const = default;
};

// A cgroup.
struct CgroupDirectory {
  std::string path = {};  // from the mount: "/", "/system.slice/cron.service"
  std::uint64_t id = 0;   // the inode of the directory (kernel/cgroup/cgroup.c, cgroup_id)

  bool operator==(const CgroupDirectory&) const = default;
};

// Returns the hierarchies that `mountinfo` (proc(5)) lists, that of perf first, version 2 before
// version 1. perf's is the one with the controller perf_event: version 2, unless version 1 has it.
// Leaves out hierarchies of version 1 without a controller (name=systemd), because the kernel's
// filter finds a cgroup by its controller. Of a hierarchy that is mounted several times, the first
// mount counts, one of this cgroup namespace before those of others. Fails if the file cannot be
// read.
Result<std::vector<CgroupHierarchy>> MountedCgroupHierarchies(
    const std::filesystem::path& mountinfo = "/proc/self/mountinfo");

// Returns all cgroups of a hierarchy, parents before their children, otherwise by name. Leaves out
// those that cannot be read.
std::vector<CgroupDirectory> CgroupsOf(const CgroupHierarchy& hierarchy);

// Returns the id of a directory. Fails if `directory` is not a directory.
Result<std::uint64_t> CgroupIdOf(const std::filesystem::path& directory);

// Paths of cgroups as the recorder's cgroup namespace shows them. The kernel's CGROUP records have
// paths from the root of the hierarchy (kernel/events/core.c, perf_event_cgroup). Not thread-safe.
class CgroupPaths {
 public:
  // `mounted` is the hierarchy as it is mounted for the recorder.
  explicit CgroupPaths(CgroupHierarchy mounted) : mounted_(std::move(mounted)) {}

  // Returns the path below the mount. A cgroup that is not below the mount, or no longer, keeps its
  // path, unless an earlier one was below it and showed which part to remove.
  std::string PathBelowMount(const CgroupDirectory& reported);

  // If the record is a CGROUP, writes it with the path below the mount to `rewritten` and returns
  // true.
  bool Rewrite(Bytes record, const perfdata::SampleFormat& format,
               std::vector<std::byte>& rewritten);

 private:
  CgroupHierarchy mounted_;
  std::string outside_;  // the part of the paths above the mount: "/kubepods/pod1"
};

}  // namespace perftape::record
