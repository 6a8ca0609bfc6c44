// SPDX-License-Identifier: Apache-2.0
#include "record/scope/recorded_containers.h"

#include <utility>

#include "formats/cgroup/container_path.h"

namespace perftape::record {

void RecordedContainers::Add(std::string_view path) {
  if (containers_.size() >= kMost || containers_.contains(path)) return;
  cgroup::ContainerPath ids = cgroup::ParseContainerPath(path);
  if (ids == cgroup::ContainerPath()) return;
  bundle::NotedContainer container = {.cgroup = std::string(path),
                                      .pod_uid = std::move(ids.pod_uid),
                                      .container_id = std::move(ids.container_id)};
  FindNames(container);
  containers_.emplace(path, std::move(container));
}

void RecordedContainers::AddMissingNames() {
  for (auto& [path, container] : containers_) {
    if (container.pod.empty() && container.container.empty()) FindNames(container);
  }
}

void RecordedContainers::FindNames(bundle::NotedContainer& container) {
  ContainerNames names =
      names_.Find({.pod_uid = container.pod_uid, .container_id = container.container_id});
  container.pod_namespace = std::move(names.pod_namespace);
  container.pod = std::move(names.pod);
  container.container = std::move(names.container);
}

std::vector<bundle::NotedContainer> RecordedContainers::Noted() const {
  std::vector<bundle::NotedContainer> noted;
  for (const auto& [path, container] : containers_) noted.push_back(container);
  return noted;
}

}  // namespace perftape::record
