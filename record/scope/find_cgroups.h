// SPDX-License-Identifier: Apache-2.0
// From the cgroups, containers and pods that the user names to cgroups of this machine.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/scope/cgroups.h"
#include "record/scope/pod_names.h"

namespace perftape::record {

struct FoundCgroups {
  CgroupHierarchy hierarchy = {};
  std::vector<CgroupDirectory> cgroups = {};  // at least one; none is below another
};

// Finds each of `names` in one hierarchy, the first that has all of them. A name is a path below
// the mount, the path of the directory, or an id: the number of its inode.
//
// Fails with kNotFound for a name that is in none: the message lists the directories that were
// searched, and suggests similar names.
Result<FoundCgroups> FindCgroups(std::span<const CgroupHierarchy> hierarchies,
                                 std::span<const std::string> names);

// Finds the cgroups of each container by its id, or the beginning of it. The id is the last part of
// a directory's name, as the container engines choose it (formats/cgroup/container_path.h). If
// directories of one container are inside each other, returns the outermost. Fails with kNotFound,
// and with kInvalidArgument for the beginning of several ids; the message lists them.
Result<FoundCgroups> FindContainers(std::span<const CgroupHierarchy> hierarchies,
                                    std::span<const std::string> ids);

// Finds the cgroups of the pods with these names, NAMESPACE/NAME, or NAME in any namespace. Both
// may be globs, as in fnmatch(3). `pods` are those of the node (pod_names.h). Fails with kNotFound
// for a name that no pod has, or only pods without a cgroup.
Result<FoundCgroups> FindPods(std::span<const CgroupHierarchy> hierarchies,
                              std::span<const Pod> pods, std::span<const std::string> names);

// Returns the cgroups that are in both. Fails with kInvalidArgument if there are none; `options`
// are those that named them, "--cgroup and --container".
Result<FoundCgroups> InBoth(const FoundCgroups& some, const FoundCgroups& others,
                            std::string_view options);

}  // namespace perftape::record
