// SPDX-License-Identifier: Apache-2.0
// Paths of cgroups as the recorder's cgroup namespace shows them. The kernel's CGROUP records have
// paths from the root of the hierarchy (kernel/events/core.c, perf_event_cgroup).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/perfdata/attr.h"
#include "record/scope/cgroup_hierarchies.h"

namespace perftape::record {

// Not thread-safe.
class CgroupPaths {
 public:
  // `mounted` is the hierarchy as it is mounted for the recorder.
  explicit CgroupPaths(CgroupHierarchy mounted) : mounted_(std::move(mounted)) {}

  // Returns the path below the mount. A cgroup that is not there, or no longer, keeps its path,
  // unless an earlier one was there and tells what to remove.
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
