// SPDX-License-Identifier: Apache-2.0
#include "formats/cgroup/container_path.h"

#include <algorithm>
#include <cstddef>

namespace perftape::cgroup {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kLxc = "lxc.payload.";
constexpr std::size_t kShortestId = 12, kWholeId = 64;

bool IsHex(std::string_view text) {
  return text.find_first_not_of(kHexDigits) == std::string_view::npos;
}

// A UUID, or the hash of the file of a static pod (pkg/kubelet/config/common.go, applyDefaults).
bool IsPodUid(std::string_view uid) {
  constexpr std::size_t kUuid = 36, kHash = 32;
  if (uid.size() == kHash) return IsHex(uid);
  if (uid.size() != kUuid) return false;
  for (std::size_t i = 0; i < uid.size(); ++i) {
    const bool is_separator = i == 8 || i == 13 || i == 18 || i == 23;
    if (is_separator ? uid[i] != '-' : !IsHex(uid.substr(i, 1))) return false;
  }
  return true;
}

// Whether a directory is a container for certain, not only by a search for an id that is known.
bool IsContainer(std::string_view directory) {
  const std::string_view id = ContainerIdIn(directory);
  // An id is the name of a directory, and must not be "..".
  if (directory.starts_with(kLxc)) return !id.empty() && !id.starts_with('.');
  return id.size() == kWholeId && IsHex(id);
}

// Removes the last directory from `path`, and returns it.
std::string_view RemoveLastDirectory(std::string_view& path) {
  const std::size_t slash = path.rfind('/');
  const std::string_view last = path.substr(slash == std::string_view::npos ? 0 : slash + 1);
  path.remove_suffix(slash == std::string_view::npos ? path.size() : path.size() - slash);
  return last;
}

}  // namespace

std::string_view ContainerIdIn(std::string_view directory) {
  constexpr std::string_view kScope = ".scope", kSlice = ".slice";
  if (directory.ends_with(kSlice)) return {};  // a pod or a group of containers
  if (directory.ends_with(kScope)) directory.remove_suffix(kScope.size());
  if (directory.starts_with(kLxc)) return directory.substr(kLxc.size());
  const std::size_t separator = directory.find_last_of("-:");
  if (separator == std::string_view::npos) return directory;
  if (directory.substr(0, separator).ends_with("conmon")) return {};
  return directory.substr(separator + 1);
}

bool IsContainerId(std::string_view id) {
  return id.size() >= kShortestId && IsHex(id);
}

std::string PodUidIn(std::string_view directory) {
  constexpr std::string_view kPod = "pod", kSlice = ".slice";
  directory = directory.substr(0, directory.find(':'));
  if (directory.ends_with(kSlice)) directory.remove_suffix(kSlice.size());
  const std::size_t at = directory.rfind(kPod);
  if (at == std::string_view::npos || (at > 0 && directory[at - 1] != '-')) return {};
  std::string uid(directory.substr(at + kPod.size()));
  std::ranges::replace(uid, '_', '-');  // systemd reads - as a level of slices
  return IsPodUid(uid) ? uid : std::string();
}

ContainerPath ParseContainerPath(std::string_view path) {
  ContainerPath found;
  while (!path.empty()) {
    const std::string_view directory = RemoveLastDirectory(path);
    if (found.container_id.empty() && IsContainer(directory)) {
      found.container_id = ContainerIdIn(directory);
    }
    found.pod_uid = PodUidIn(directory);
    if (!found.pod_uid.empty()) break;
  }
  return found;
}

std::string_view UnitIn(std::string_view path) {
  if (!ParseContainerPath(path).pod_uid.empty()) return {};
  while (!path.empty()) {
    std::string_view directory = RemoveLastDirectory(path);
    const bool is_unit = directory.ends_with(".service") || directory.ends_with(".scope");
    if (!is_unit || IsContainer(directory)) continue;
    // Before a name that is also one of a cgroup's files (cg_escape, src/basic/cgroup-util.c).
    if (directory.starts_with('_')) directory.remove_prefix(1);
    return directory;
  }
  return {};
}

}  // namespace perftape::cgroup
