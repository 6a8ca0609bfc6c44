// SPDX-License-Identifier: Apache-2.0
#include "record/scope/own_namespaces.h"

#include <sys/stat.h>

namespace perftape::record {

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
