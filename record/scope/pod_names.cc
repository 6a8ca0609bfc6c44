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
    pods_.Set(pod.uid, Pod{.uid = std::string(pod.uid),
                           .name_space = std::string(pod.name_space),
                           .name = std::string(pod.pod)});
  });
}

// The lists that have many containers.
void PodNames::ReadListedContainers() {
  ForEachEntry(root_ / kContainerLogs, kMostContainers, [&](const std::string& name) {
    ContainerLog log = ContainerOfLog(name);
    if (!log.id.empty()) AddListed(log.id, std::move(log.names));
  });
  const std::string storage =
      TextOf(root_ / "var/lib/containers/storage/overlay-containers/containers.json");
  for (auto& [id, names] : NamesInStorage(storage)) AddListed(id, std::move(names));
}

void PodNames::AddListed(std::string_view id, ContainerNames names) {
  if (containers_.Find(id) == nullptr) containers_.Set(id, std::move(names));
}

ContainerNames PodNames::ReadContainer(const std::string& id) const {
  const std::string containerd =
      TextOf(root_ / "run/containerd/io.containerd.runtime.v2.task/k8s.io" / id / "config.json");
  if (!containerd.empty()) return NamesInOciConfig(containerd);
  return NamesInDockerConfig(TextOf(root_ / "var/lib/docker/containers" / id / "config.v2.json"));
}

ContainerNames PodNames::NamesOfContainer(const std::string& id) {
  if (const ContainerNames* const known = containers_.Find(id)) return *known;
  ContainerNames names = ReadContainer(id);
  if (names != ContainerNames()) containers_.Set(id, names);
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
  const bool is_known_pod = path.pod_uid.empty() || pods_.Find(path.pod_uid) != nullptr;
  const bool is_known = path.container_id.empty() || containers_.Find(path.container_id) != nullptr;
  if (!is_known_pod || !is_known) ReadAgain();
  ContainerNames names;
  // The id becomes a part of a path.
  if (cgroup::IsContainerId(path.container_id)) names = NamesOfContainer(path.container_id);
  if (const Pod* const pod = pods_.Find(path.pod_uid)) {  // these are whole
    names.pod_namespace = pod->name_space;
    names.pod = pod->name;
  }
  const bool lacks_pod = !path.pod_uid.empty() && names.pod.empty();
  const bool lacks_container = !path.container_id.empty() && names.container.empty();
  if (lacks_pod || lacks_container) names.Complete(FindInSource(path));
  return names;
}

ContainerNames PodNames::FindInSource(const cgroup::ContainerPath& path) {
  return source_ == nullptr ? ContainerNames() : source_->Find(path);
}

std::vector<Pod> PodNames::Pods() {
  ReadPods();
  std::vector<Pod> pods;
  pods_.ForEach([&](const Pod& pod) { pods.push_back(pod); });
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
