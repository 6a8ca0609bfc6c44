// SPDX-License-Identifier: Apache-2.0
// The names of pods and containers, from what the kubelet and the container engines leave on the
// disk of the node, and from another source if there is one.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/cgroup/container_path.h"
#include "record/scope/container_files.h"
#include "record/scope/name_source.h"
#include "record/scope/recently_used.h"

namespace perftape::record {

struct Pod {
  std::string uid = {};  // as in the paths of its cgroups
  std::string name_space = {}, name = {};

  bool operator==(const Pod&) const = default;
};

// The directory in which the kubelet keeps the logs of pods, from the root of the node.
inline constexpr std::string_view kPodLogs = "/var/log/pods";

// Looks in these places, and keeps what it has found: a pod may be deleted before its names are
// needed. A whole list of pods has at most kMostPods. Twice as many are kept: those that were
// listed or asked for last.
//
//   /var/log/pods/NAMESPACE_POD_UID/CONTAINER/       kubelet (pkg/kubelet/kuberuntime/helpers.go,
//                                                    BuildPodLogsDirectory)
//   /var/log/containers/POD_NAMESPACE_CONTAINER-ID.log    kubelet (legacy.go, legacyLogSymlink)
//   /run/containerd/io.containerd.runtime.v2.task/k8s.io/ID/config.json   containerd: annotations
//   /var/lib/docker/containers/ID/config.v2.json     docker: its name, and labels of a kubelet
//   /var/lib/containers/storage/overlay-containers/containers.json   podman, CRI-O: names
//
// Not thread-safe.
class PodNames {
 public:
  static constexpr std::size_t kMostPods = 10'000, kMostContainers = 4 * kMostPods;

  // The root of the node: "/", or "/proc/1/root" in a container that may read it. `source` must
  // outlive this object; null: only files are read.
  explicit PodNames(std::filesystem::path root, NameSource* source = nullptr)
      : root_(std::move(root)), source_(source) {}

  // Returns the names of a cgroup's container; all empty if none are known. For an unknown uid it
  // reads the list of pods again, at most once a second. Names that files do not have come from the
  // source.
  ContainerNames Find(const cgroup::ContainerPath& path);
  // The same without reading files.
  ContainerNames FindInSource(const cgroup::ContainerPath& path);
  // Returns how often the source has answered so far. It may know more then. Waits for nothing.
  std::uint64_t Answers() { return source_ == nullptr ? 0 : source_->Answers(); }

  // Returns all pods of the node, by namespace and name.
  std::vector<Pod> Pods();

 private:
  using Clock = std::chrono::steady_clock;

  void ReadPods();
  void ReadListedContainers();
  void AddListed(std::string_view id, ContainerNames names);
  void ReadAgain();
  ContainerNames NamesOfContainer(const std::string& id);
  ContainerNames ReadContainer(const std::string& id) const;

  std::filesystem::path root_;
  NameSource* source_;
  RecentlyUsed<Pod> pods_{2 * kMostPods};  // by uid
  Clock::time_point pods_read_ = {};
  RecentlyUsed<ContainerNames> containers_{2 * kMostContainers};  // by id
};

// Returns the root of the node: "/", or "/proc/1/root" if only that one has logs of pods.
std::filesystem::path NodeRoot();

}  // namespace perftape::record
