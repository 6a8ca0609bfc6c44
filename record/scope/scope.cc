// SPDX-License-Identifier: Apache-2.0
#include "record/scope/scope.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "record/machine/requirements.h"
#include "record/scope/comm_globs.h"
#include "record/scope/find_cgroups.h"
#include "record/scope/pod_names.h"

namespace perftape::record {
namespace {

// Of the options that name cgroups, all must hold. The later ones are searched in the hierarchy of
// the first.
Result<FoundCgroups> FindNamed(const ScopeOptions& options,
                               const std::vector<CgroupHierarchy>& hierarchies) {
  std::span<const CgroupHierarchy> searched = hierarchies;
  std::optional<FoundCgroups> found;
  std::string named_by;
  const auto restrict = [&](std::string_view option, Result<FoundCgroups> named) -> Status {
    if (!named) return std::unexpected(std::move(named).error());
    named_by.append(named_by.empty() ? "" : " and ").append(option);
    if (found) {
      TRY_ASSIGN(found, InBoth(*found, *named, named_by));
    } else {
      found = *std::move(named);
    }
    searched = {&found->hierarchy, 1};
    return {};
  };
  if (!options.pods.empty()) {
    const std::vector<Pod> pods = PodNames(NodeRoot()).Pods();
    TRY(restrict("--pod", FindPods(searched, pods, options.pods)));
  }
  if (!options.containers.empty()) {
    TRY(restrict("--container", FindContainers(searched, options.containers)));
  }
  if (!options.cgroups.empty()) TRY(restrict("--cgroup", FindCgroups(searched, options.cgroups)));
  return *std::move(found);
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
                fmt::format("--cgroup: {} cgroups are too many, at most {} can be recorded: name a "
                            "cgroup above them",
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
        "the recorder runs in a pid namespace: processes outside it are recorded with the id -1 "
        "and without names; run the recorder outside, or select processes (-p, --cgroup)");
  }
  if (scope.recorded && ChildNamespace(NamespaceType::kCgroup) != 0) {
    sentences.emplace_back(
        "the recorder runs in a cgroup namespace: cgroups outside it have no names");
  }
  return sentences;
}

}  // namespace perftape::record
