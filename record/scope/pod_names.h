// SPDX-License-Identifier: Apache-2.0
// The names of pods and containers, from what the kubelet and the container engines leave on the
// disk of the node. No server is asked.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/cgroup/container_path.h"
#include "record/scope/container_files.h"

namespace perftape::record {

struct Pod {
  std::string uid = {};  // as in the paths of its cgroups
  std::string name_space = {}, name = {};

  bool operator==(const Pod&) const = default;
};

// Where the kubelet keeps the logs of pods, from the root of the node.
inline constexpr std::string_view kPodLogs = "/var/log/pods";

// Looks in these places, and keeps what it has found: a pod may be deleted before its names are
// needed. A whole list of pods has at most kMostPods.
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
  static constexpr std::size_t kMostPods = 10'000;

  // The root of the node: "/", or "/proc/1/root" in a container that may read it.
  explicit PodNames(std::filesystem::path root) : root_(std::move(root)) {}

  // Returns the names of a cgroup's container; all empty if none are known. For an unknown uid it
  // reads the list of pods again, at most once a second.
  ContainerNames Find(const cgroup::ContainerPath& path);

  // Returns all pods of the node, by namespace and name.
  std::vector<Pod> Pods();

 private:
  using Clock = std::chrono::steady_clock;

  void ReadPods();
  void ReadListedContainers();
  void ReadAgain();
  ContainerNames NamesOfContainer(const std::string& id);
  ContainerNames ReadContainer(const std::string& id) const;

  std::filesystem::path root_;
  std::map<std::string, Pod, std::less<>> pods_;  // by uid
  Clock::time_point pods_read_ = {};
  std::map<std::string, ContainerNames, std::less<>> containers_;  // by id
};

// Returns the root of the node: "/", or "/proc/1/root" if only that one has logs of pods.
std::filesystem::path NodeRoot();

}  // namespace perftape::record
