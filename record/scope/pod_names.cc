// SPDX-License-Identifier: Apache-2.0
#include "record/scope/pod_names.h"

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <tuple>
#include <utility>

#include "formats/base/regular_file.h"

namespace perftape::record {
namespace {

constexpr const char* kContainerLogs = "var/log/containers";

// Of a file of a container engine. containers.json has all containers of the node.
constexpr std::uint64_t kLargestEngineFile = 16 << 20;

// Calls `use` with the name of each entry, of at most `most`.
template <class Use>
void ForEachEntry(const std::filesystem::path& directory, std::size_t most, Use use) {
  std::error_code error;
  std::filesystem::directory_iterator entries(directory, error);
  const std::filesystem::directory_iterator end;
  for (std::size_t i = 0; !error && entries != end && i < most; ++i) {
    use(entries->path().filename().string());
    entries.increment(error);
  }
}

std::string TextOf(const std::filesystem::path& path) {
  return ReadRegularFile(path, kLargestEngineFile).value_or("");
}

}  // namespace

void PodNames::ReadPods() {
  pods_read_ = Clock::now();
  ForEachEntry(root_ / kPodLogs.substr(1), kMostPods, [&](const std::string& name) {
    const PodOfLogs pod = PodOfLogDirectory(name);
    if (pod.uid.empty()) return;
    pods_.insert_or_assign(std::string(pod.uid), Pod{.uid = std::string(pod.uid),
                                                     .name_space = std::string(pod.name_space),
                                                     .name = std::string(pod.pod)});
  });
}

// The lists that have many containers.
void PodNames::ReadListedContainers() {
  constexpr std::size_t kMostContainers = 4 * kMostPods;
  ForEachEntry(root_ / kContainerLogs, kMostContainers, [&](const std::string& name) {
    ContainerLog log = ContainerOfLog(name);
    if (!log.id.empty()) containers_.try_emplace(std::string(log.id), std::move(log.names));
  });
  const std::string storage =
      TextOf(root_ / "var/lib/containers/storage/overlay-containers/containers.json");
  for (auto& [id, names] : NamesInStorage(storage)) containers_.try_emplace(id, std::move(names));
}

ContainerNames PodNames::ReadContainer(const std::string& id) const {
  const std::string containerd =
      TextOf(root_ / "run/containerd/io.containerd.runtime.v2.task/k8s.io" / id / "config.json");
  if (!containerd.empty()) return NamesInOciConfig(containerd);
  return NamesInDockerConfig(TextOf(root_ / "var/lib/docker/containers" / id / "config.v2.json"));
}

ContainerNames PodNames::NamesOfContainer(const std::string& id) {
  if (const auto found = containers_.find(id); found != containers_.end()) return found->second;
  ContainerNames names = ReadContainer(id);
  if (names != ContainerNames()) containers_.emplace(id, names);
  return names;
}

// A pod may be newer than the lists.
void PodNames::ReadAgain() {
  constexpr auto kPause = std::chrono::seconds(1);
  if (pods_read_ != Clock::time_point() && Clock::now() - pods_read_ < kPause) return;
  ReadPods();
  ReadListedContainers();
}

ContainerNames PodNames::Find(const cgroup::ContainerPath& path) {
  const bool is_known_pod = path.pod_uid.empty() || pods_.contains(path.pod_uid);
  const bool is_known = path.container_id.empty() || containers_.contains(path.container_id);
  if (!is_known_pod || !is_known) ReadAgain();
  ContainerNames names;
  // The id becomes a part of a path.
  if (cgroup::IsContainerId(path.container_id)) names = NamesOfContainer(path.container_id);
  if (const auto pod = pods_.find(path.pod_uid); pod != pods_.end()) {  // these are whole
    names.pod_namespace = pod->second.name_space;
    names.pod = pod->second.name;
  }
  return names;
}

std::vector<Pod> PodNames::Pods() {
  ReadPods();
  std::vector<Pod> pods;
  for (const auto& [uid, pod] : pods_) pods.push_back(pod);
  std::ranges::sort(pods, {}, [](const Pod& pod) { return std::tie(pod.name_space, pod.name); });
  return pods;
}

std::filesystem::path NodeRoot() {
  const std::filesystem::path of_init = "/proc/1/root";
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::path(kPodLogs), error)) return "/";
  return std::filesystem::exists(of_init / kPodLogs.substr(1), error) ? of_init : "/";
}

}  // namespace perftape::record
