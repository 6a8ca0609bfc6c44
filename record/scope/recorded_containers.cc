// SPDX-License-Identifier: Apache-2.0
#include "record/scope/recorded_containers.h"

#include <utility>

#include "formats/cgroup/container_path.h"

namespace perftape::record {
namespace {

using bundle::NotedContainer;

cgroup::ContainerPath IdsOf(const NotedContainer& container) {
  return {.pod_uid = container.pod_uid, .container_id = container.container_id};
}

bool LacksNames(const NotedContainer& container) {
  return (!container.pod_uid.empty() && container.pod.empty()) ||
         (!container.container_id.empty() && container.container.empty());
}

void AddNames(const ContainerNames& found, NotedContainer& container) {
  ContainerNames names = {.pod_namespace = std::move(container.pod_namespace),
                          .pod = std::move(container.pod),
                          .container = std::move(container.container)};
  names.Complete(found);
  container.pod_namespace = std::move(names.pod_namespace);
  container.pod = std::move(names.pod);
  container.container = std::move(names.container);
}

}  // namespace

void RecordedContainers::Add(std::string_view path) {
  if (containers_.size() >= kMost || containers_.contains(path)) return;
  cgroup::ContainerPath ids = cgroup::ParseContainerPath(path);
  if (ids == cgroup::ContainerPath()) return;
  NotedContainer container = {.cgroup = std::string(path),
                              .pod_uid = std::move(ids.pod_uid),
                              .container_id = std::move(ids.container_id)};
  AddNames(names_.Find(IdsOf(container)), container);
  containers_.emplace(path, std::move(container));
}

void RecordedContainers::AddMissingNames() {
  for (auto& [path, container] : containers_) {
    if (LacksNames(container)) AddNames(names_.Find(IdsOf(container)), container);
  }
}

void RecordedContainers::AddAnswers() {
  const std::uint64_t answers = names_.Answers();
  if (answers == answers_) return;
  answers_ = answers;
  for (auto& [path, container] : containers_) {
    if (LacksNames(container)) AddNames(names_.FindInSource(IdsOf(container)), container);
  }
}

std::vector<NotedContainer> RecordedContainers::Noted() const {
  std::vector<NotedContainer> noted;
  for (const auto& [path, container] : containers_) noted.push_back(container);
  return noted;
}

}  // namespace perftape::record
