// SPDX-License-Identifier: Apache-2.0
#include "record/scope/find_cgroups.h"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "formats/base/similar.h"
#include "formats/base/text.h"
#include "formats/cgroup/container_path.h"
#include "record/machine/proc_files.h"
#include "record/machine/requirements.h"

namespace perftape::record {
namespace {

constexpr std::size_t kMostListed = 5;

// Returns whether `path` is `directory` or below it.
bool IsAtOrBelow(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

// Keeps the outermost of cgroups inside each other.
std::vector<CgroupDirectory> Outermost(std::vector<CgroupDirectory> cgroups) {
  std::ranges::sort(cgroups, {}, &CgroupDirectory::path);
  std::vector<CgroupDirectory> outermost;
  for (CgroupDirectory& cgroup : cgroups) {
    const auto is_inside = [&](const CgroupDirectory& outer) {
      return IsAtOrBelow(cgroup.path, outer.path);
    };
    if (std::ranges::none_of(outermost, is_inside)) outermost.push_back(std::move(cgroup));
  }
  return outermost;
}

// "web/", "./web" and "/web" are "/web".
std::string Normalized(std::string_view path) {
  std::string normal = std::filesystem::path("/" + std::string(path)).lexically_normal().string();
  while (normal.size() > 1 && normal.ends_with('/')) normal.pop_back();
  return normal;
}

std::string_view NameOf(const CgroupDirectory& cgroup) {
  return std::string_view(cgroup.path).substr(cgroup.path.rfind('/') + 1);
}

std::optional<CgroupDirectory> CgroupAt(const CgroupHierarchy& hierarchy, const std::string& path) {
  const Result<std::uint64_t> id = CgroupIdOf(hierarchy.mount.string() + path);
  if (!id) return std::nullopt;
  return CgroupDirectory{.path = path, .id = *id};
}

std::optional<CgroupDirectory> CgroupWithId(const CgroupHierarchy& hierarchy, std::uint64_t id) {
  std::vector<CgroupDirectory> all = CgroupsOf(hierarchy);
  const auto found = std::ranges::find(all, id, &CgroupDirectory::id);
  if (found == all.end()) return std::nullopt;
  return *std::move(found);
}

std::optional<CgroupDirectory> FindCgroup(const CgroupHierarchy& hierarchy,
                                          const std::string& name) {
  if (const std::optional<std::uint64_t> id = ParseNumber(name)) {
    if (auto found = CgroupWithId(hierarchy, *id)) return found;
  }
  const std::string path = Normalized(name);
  const std::string mount = hierarchy.mount.string();
  if (name.starts_with('/') && IsAtOrBelow(path, mount)) {
    return CgroupAt(hierarchy, Normalized(std::string_view(path).substr(mount.size())));
  }
  return CgroupAt(hierarchy, path);
}

std::string SearchedIn(std::span<const CgroupHierarchy> hierarchies) {
  std::vector<std::string> mounts;
  for (const CgroupHierarchy& hierarchy : hierarchies) mounts.push_back(hierarchy.mount.string());
  return Joined(mounts, ", ");
}

// Returns "; did you mean /web or /wet?", or nothing.
std::string NearestCgroups(std::string_view name, std::span<const CgroupHierarchy> hierarchies) {
  std::set<std::string> names;
  for (const CgroupHierarchy& hierarchy : hierarchies) {
    for (CgroupDirectory& cgroup : CgroupsOf(hierarchy)) names.insert(std::move(cgroup.path));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::vector<std::string_view> similar = MostSimilar(Normalized(name), views);
  if (similar.empty()) return "";
  if (similar.size() > kMostListed) similar.resize(kMostListed);
  return fmt::format("; did you mean {}?", Joined(similar, " or "));
}

std::unexpected<Error> NoHierarchy(std::string_view option) {
  return FailMissing(ErrorCode::kNotFound, option, {Missing(Requirement::kCgroups)});
}

struct ContainerCgroup {
  std::string id = {};
  CgroupDirectory cgroup = {};
};

// The cgroups of the containers whose id is or begins with `wanted`. The whole id excludes others.
std::vector<ContainerCgroup> ContainersLike(const CgroupHierarchy& hierarchy,
                                            std::string_view wanted) {
  std::vector<ContainerCgroup> found;
  for (CgroupDirectory& cgroup : CgroupsOf(hierarchy)) {
    const std::string id(cgroup::ContainerIdIn(NameOf(cgroup)));
    if (id == wanted || (cgroup::IsContainerId(id) && id.starts_with(wanted))) {
      found.push_back({.id = id, .cgroup = std::move(cgroup)});
    }
  }
  if (std::ranges::count(found, wanted, &ContainerCgroup::id) > 0) {
    std::erase_if(found, [&](const ContainerCgroup& one) { return one.id != wanted; });
  }
  return found;
}

std::unexpected<Error> Ambiguous(std::string_view wanted,
                                 std::span<const ContainerCgroup> containers,
                                 const CgroupHierarchy& hierarchy) {
  std::vector<std::string> paths;
  for (const ContainerCgroup& container : containers) paths.push_back(container.cgroup.path);
  const std::size_t more = paths.size() - std::min(paths.size(), 2 * kMostListed);
  paths.resize(paths.size() - more);
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("--container '{}': several containers in {} have an id that begins so: "
                          "{}{}: give more of it",
                          wanted, hierarchy.mount.string(), Joined(paths, ", "),
                          more > 0 ? fmt::format(" and {} more", more) : ""));
}

std::vector<CgroupDirectory> DirectoriesOf(std::span<const ContainerCgroup> containers) {
  std::vector<CgroupDirectory> cgroups;
  for (const ContainerCgroup& container : containers) cgroups.push_back(container.cgroup);
  return cgroups;
}

// What is to be searched in each hierarchy: nothing if the name is not in it.
using Search = std::function<Result<std::vector<CgroupDirectory>>(const CgroupHierarchy& hierarchy,
                                                                  const std::string& name)>;

Result<std::vector<CgroupDirectory>> SearchCgroup(const CgroupHierarchy& hierarchy,
                                                  const std::string& name) {
  const std::optional<CgroupDirectory> found = FindCgroup(hierarchy, name);
  if (!found) return std::vector<CgroupDirectory>();
  return std::vector{*found};
}

Result<std::vector<CgroupDirectory>> SearchContainer(const CgroupHierarchy& hierarchy,
                                                     const std::string& name) {
  const std::vector<ContainerCgroup> containers = ContainersLike(hierarchy, name);
  std::set<std::string_view> ids;
  for (const ContainerCgroup& container : containers) ids.insert(container.id);
  if (ids.size() > 1) return Ambiguous(name, containers, hierarchy);
  return DirectoriesOf(containers);
}

// Returns the uids of the pods with this name, NAMESPACE/NAME or NAME. Both may be globs.
std::set<std::string_view> UidsOf(std::span<const Pod> pods, const std::string& name) {
  const std::size_t slash = name.find('/');
  const std::string name_space = slash == std::string::npos ? "*" : name.substr(0, slash);
  const std::string pod_name = slash == std::string::npos ? name : name.substr(slash + 1);
  std::set<std::string_view> uids;
  for (const Pod& pod : pods) {
    if (fnmatch(name_space.c_str(), pod.name_space.c_str(), 0) == 0 &&
        fnmatch(pod_name.c_str(), pod.name.c_str(), 0) == 0) {
      uids.insert(pod.uid);
    }
  }
  return uids;
}

std::vector<CgroupDirectory> CgroupsOfPods(const CgroupHierarchy& hierarchy,
                                           const std::set<std::string_view>& uids) {
  std::vector<CgroupDirectory> found;
  for (CgroupDirectory& cgroup : CgroupsOf(hierarchy)) {
    if (uids.contains(cgroup::PodUidIn(NameOf(cgroup)))) found.push_back(std::move(cgroup));
  }
  return found;
}

// Returns "; did you mean default/web?", or nothing.
std::string NearestPods(const std::string& name, std::span<const Pod> pods) {
  std::vector<std::string> names;
  for (const Pod& pod : pods) names.push_back(pod.name_space + "/" + pod.name);
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::vector<std::string_view> similar = MostSimilar(name, views);
  if (similar.empty()) return "";
  if (similar.size() > kMostListed) similar.resize(kMostListed);
  return fmt::format("; did you mean {}?", Joined(similar, " or "));
}

// Searches all names in each hierarchy. `missing` becomes the first name that is in none, if there
// is one.
Result<std::optional<FoundCgroups>> SearchAll(std::span<const CgroupHierarchy> hierarchies,
                                              std::span<const std::string> names,
                                              const Search& search, std::string_view& missing) {
  std::set<std::string_view> seen;
  for (const CgroupHierarchy& hierarchy : hierarchies) {
    FoundCgroups found{.hierarchy = hierarchy};
    bool has_all = true;
    for (const std::string& name : names) {
      TRY_ASSIGN(const std::vector<CgroupDirectory> cgroups, search(hierarchy, name));
      if (!cgroups.empty()) seen.insert(name);
      has_all = has_all && !cgroups.empty();
      found.cgroups.insert(found.cgroups.end(), cgroups.begin(), cgroups.end());
    }
    if (!has_all) continue;
    found.cgroups = Outermost(std::move(found.cgroups));
    return found;
  }
  for (const std::string& name : names) {
    if (!seen.contains(name) && missing.empty()) missing = name;
  }
  return std::nullopt;
}

std::unexpected<Error> NotTogether(std::string_view option) {
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("{}: these are in different cgroup hierarchies: record one of them", option));
}

}  // namespace

Result<FoundCgroups> FindCgroups(std::span<const CgroupHierarchy> hierarchies,
                                 std::span<const std::string> names) {
  if (hierarchies.empty()) return NoHierarchy("--cgroup");
  std::string_view missing;
  TRY_ASSIGN(std::optional<FoundCgroups> found,
             SearchAll(hierarchies, names, SearchCgroup, missing));
  if (found) return *std::move(found);
  if (missing.empty()) return NotTogether("--cgroup");
  return Fail(ErrorCode::kNotFound,
              fmt::format("--cgroup '{}': no such cgroup in {}{}", missing, SearchedIn(hierarchies),
                          NearestCgroups(missing, hierarchies)));
}

Result<FoundCgroups> FindContainers(std::span<const CgroupHierarchy> hierarchies,
                                    std::span<const std::string> ids) {
  if (hierarchies.empty()) return NoHierarchy("--container");
  std::string_view missing;
  TRY_ASSIGN(std::optional<FoundCgroups> found,
             SearchAll(hierarchies, ids, SearchContainer, missing));
  if (found) return *std::move(found);
  if (missing.empty()) return NotTogether("--container");
  return Fail(ErrorCode::kNotFound,
              fmt::format("--container '{}': no cgroup directory in {} has this id in its name: "
                          "use --cgroup with the path of the cgroup",
                          missing, SearchedIn(hierarchies)));
}

Result<FoundCgroups> FindPods(std::span<const CgroupHierarchy> hierarchies,
                              std::span<const Pod> pods, std::span<const std::string> names) {
  if (hierarchies.empty()) return NoHierarchy("--pod");
  for (const std::string& name : names) {
    if (UidsOf(pods, name).empty()) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("--pod '{}': none of the {} pods of this node in {} has this name{}",
                              name, pods.size(), kPodLogs, NearestPods(name, pods)));
    }
  }
  const auto search = [&](const CgroupHierarchy& hierarchy,
                          const std::string& name) -> Result<std::vector<CgroupDirectory>> {
    return CgroupsOfPods(hierarchy, UidsOf(pods, name));
  };
  std::string_view missing;
  TRY_ASSIGN(std::optional<FoundCgroups> found, SearchAll(hierarchies, names, search, missing));
  if (found) return *std::move(found);
  if (missing.empty()) return NotTogether("--pod");
  return Fail(ErrorCode::kNotFound,
              fmt::format("--pod '{}': the pod has no cgroup in {}: it may have ended", missing,
                          SearchedIn(hierarchies)));
}

Result<FoundCgroups> InBoth(const FoundCgroups& some, const FoundCgroups& others,
                            std::string_view options) {
  if (some.hierarchy != others.hierarchy) return NotTogether(options);
  FoundCgroups both{.hierarchy = some.hierarchy};
  for (const CgroupDirectory& one : some.cgroups) {
    for (const CgroupDirectory& other : others.cgroups) {
      if (IsAtOrBelow(other.path, one.path)) {
        both.cgroups.push_back(other);
      } else if (IsAtOrBelow(one.path, other.path)) {
        both.cgroups.push_back(one);
      }
    }
  }
  if (!both.cgroups.empty()) return both;
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: no cgroup matches both, so nothing would be recorded", options));
}

}  // namespace perftape::record
