// SPDX-License-Identifier: Apache-2.0
// From the cgroups and containers that the user names to cgroups of this machine.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "record/scope/cgroups.h"

namespace perftape::record {

struct FoundCgroups {
  CgroupHierarchy hierarchy = {};
  std::vector<CgroupDirectory> cgroups = {};  // at least one; none is below another
};

// Finds each of `names` in one hierarchy, the first that has all of them. A name is a path below
// the mount, the path of the directory, or an id: the number of its inode.
//
// Fails with kNotFound for a name that is nowhere: the message has the directories that were
// searched, and what is near.
Result<FoundCgroups> FindCgroups(std::span<const CgroupHierarchy> hierarchies,
                                 std::span<const std::string> names);

// Finds the cgroups of each container by its id, or the beginning of it. The id is the last part of
// a directory's name, as the container engines choose it:
//
//   docker/ID   docker-ID.scope   libpod-ID.scope   cri-containerd-ID.scope   crio-ID.scope
//   kubepods/pod.../ID   system.slice:docker:ID   lxc.payload.NAME
//
// Of directories of one container inside each other it returns the outermost. Fails with kNotFound,
// and with kInvalidArgument for the beginning of several ids; the message lists them.
Result<FoundCgroups> FindContainers(std::span<const CgroupHierarchy> hierarchies,
                                    std::span<const std::string> ids);

// Returns the cgroups that are in both. Fails with kInvalidArgument if there are none.
Result<FoundCgroups> InBoth(const FoundCgroups& cgroups, const FoundCgroups& containers);

}  // namespace perftape::record
