// SPDX-License-Identifier: Apache-2.0
#include "formats/cri/runtime_lists.h"

#include <optional>

#include "formats/protobuf/field_reader.h"

namespace perftape::cri {
namespace {

using protobuf::Field;

struct PodSandboxMetadata {
  std::string_view name = {}, uid = {}, name_space = {};
};

struct PodSandboxItem {
  std::string_view id = {};
  std::optional<PodSandboxMetadata> metadata = {};
};

struct ListPodSandboxResponse {
  std::vector<PodSandboxItem> items = {};
};

struct ContainerMetadata {
  std::string_view name = {};
};

struct ContainerItem {
  std::string_view id = {}, pod_sandbox_id = {};
  std::optional<ContainerMetadata> metadata = {};
};

struct ListContainersResponse {
  std::vector<ContainerItem> containers = {};
};

template <class Visitor>
void Layout(Visitor& field, PodSandboxMetadata& message) {
  field(Field{1, "name"}, message.name);
  field(Field{2, "uid"}, message.uid);
  field(Field{3, "namespace"}, message.name_space);
}

template <class Visitor>
void Layout(Visitor& field, PodSandboxItem& message) {
  field(Field{1, "id"}, message.id);
  field(Field{2, "metadata"}, message.metadata);
}

template <class Visitor>
void Layout(Visitor& field, ListPodSandboxResponse& message) {
  field(Field{1, "items"}, message.items);
}

template <class Visitor>
void Layout(Visitor& field, ContainerMetadata& message) {
  field(Field{1, "name"}, message.name);
}

template <class Visitor>
void Layout(Visitor& field, ContainerItem& message) {
  field(Field{1, "id"}, message.id);
  field(Field{2, "podSandboxId"}, message.pod_sandbox_id);
  field(Field{3, "metadata"}, message.metadata);
}

template <class Visitor>
void Layout(Visitor& field, ListContainersResponse& message) {
  field(Field{1, "containers"}, message.containers);
}

}  // namespace

Result<std::vector<PodSandbox>> DecodePodSandboxes(Bytes encoded) {
  ListPodSandboxResponse response;
  TRY(protobuf::DecodeInto(encoded, response));
  std::vector<PodSandbox> pods;
  for (const PodSandboxItem& item : response.items) {
    const PodSandboxMetadata metadata = item.metadata.value_or(PodSandboxMetadata());
    pods.push_back({.id = item.id,
                    .pod_uid = metadata.uid,
                    .pod_namespace = metadata.name_space,
                    .pod = metadata.name});
  }
  return pods;
}

Result<std::vector<Container>> DecodeContainers(Bytes encoded) {
  ListContainersResponse response;
  TRY(protobuf::DecodeInto(encoded, response));
  std::vector<Container> containers;
  for (const ContainerItem& item : response.containers) {
    containers.push_back({.id = item.id,
                          .sandbox_id = item.pod_sandbox_id,
                          .name = item.metadata.value_or(ContainerMetadata()).name});
  }
  return containers;
}

}  // namespace perftape::cri
