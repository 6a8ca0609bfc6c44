// SPDX-License-Identifier: Apache-2.0
#include "record/scope/scope.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <utility>

#include "record/machine/requirements.h"
#include "record/scope/comm_globs.h"
#include "record/scope/find_cgroups.h"

namespace perftape::record {
namespace {

Result<FoundCgroups> FindNamed(const ScopeOptions& options,
                               const std::vector<CgroupHierarchy>& hierarchies) {
  if (options.containers.empty()) return FindCgroups(hierarchies, options.cgroups);
  TRY_ASSIGN(FoundCgroups containers, FindContainers(hierarchies, options.containers));
  if (options.cgroups.empty()) return containers;
  // In the hierarchy of the containers.
  TRY_ASSIGN(const FoundCgroups cgroups, FindCgroups({&containers.hierarchy, 1}, options.cgroups));
  return InBoth(cgroups, containers);
}

}  // namespace

Result<Scope> ResolveScope(const ScopeOptions& options) {
  Scope scope{.namespaces = options.namespaces};
  TRY_ASSIGN(scope.comms, CompileCommGlobs(options.comms));
  if (!options.has_cgroups() && !options.all_cgroups) return scope;
  TRY_ASSIGN(const std::vector<CgroupHierarchy> hierarchies, MountedCgroupHierarchies());
  if (!options.has_cgroups()) {
    if (hierarchies.empty()) {
      return FailMissing(ErrorCode::kNotFound, "--all-cgroups", {Missing(Requirement::kCgroups)});
    }
    scope.recorded = hierarchies.front();
    return scope;
  }
  TRY_ASSIGN(FoundCgroups found, FindNamed(options, hierarchies));
  if (found.cgroups.size() > WIRE_MAX_CGROUPS) {
    return Fail(ErrorCode::kInvalidArgument,
                fmt::format("--cgroup: {} cgroups are more than {}: name a cgroup above them",
                            found.cgroups.size(), WIRE_MAX_CGROUPS));
  }
  scope.recorded = std::move(found.hierarchy);
  scope.cgroups = std::move(found.cgroups);
  return scope;
}

std::uint32_t ChildNamespace(NamespaceType type) {
  // include/linux/proc_ns.h: PROC_PID_INIT_INO, PROC_CGROUP_INIT_INO
  const bool is_pid = type == NamespaceType::kPid;
  const std::uint32_t initial = is_pid ? 0xEFFFFFFC : 0xEFFFFFFB;
  struct stat ns = {};
  if (stat(is_pid ? "/proc/self/ns/pid" : "/proc/self/ns/cgroup", &ns) != 0) return 0;
  const auto inode = static_cast<std::uint32_t>(ns.st_ino);
  return inode == initial ? 0 : inode;
}

std::vector<std::string> UnseenFromNamespaces(const Scope& scope) {
  std::vector<std::string> sentences;
  if (ChildNamespace(NamespaceType::kPid) != 0) {
    sentences.emplace_back(
        "the recorder runs in a pid namespace: processes outside of it are recorded with the id -1 "
        "and without names; run it outside, or select processes (-p, --cgroup)");
  }
  if (scope.recorded && ChildNamespace(NamespaceType::kCgroup) != 0) {
    sentences.emplace_back(
        "the recorder runs in a cgroup namespace: cgroups outside of it have no names");
  }
  return sentences;
}

}  // namespace perftape::record
