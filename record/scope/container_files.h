// SPDX-License-Identifier: Apache-2.0
// The names in files that container engines keep of a container, and in names that a kubelet
// chooses. All of these return empty names for a text that is something else.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace perftape::record {

struct ContainerNames {
  std::string pod_namespace = {}, pod = {};  // empty: not known, or not of Kubernetes
  std::string container = {};                // empty: not known, or the cgroup of the whole pod

  bool operator==(const ContainerNames&) const = default;
  // Adds the names of `other` for what is empty.
  void Complete(const ContainerNames& other);
};

// "k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT": cri-dockerd and CRI-O. Other names are those of a
// container without a pod; docker's begin with a slash.
ContainerNames NamesOfEngine(std::string_view name);

// The config.json of containerd's shim (OCI runtime specification), with the annotations
// io.kubernetes.cri.* (internal/cri/annotations).
ContainerNames NamesInOciConfig(std::string_view json);

// The config.v2.json of docker: the labels io.kubernetes.*, or else the name.
ContainerNames NamesInDockerConfig(std::string_view json);

// The containers.json of containers/storage (podman, CRI-O): names by id.
std::map<std::string, ContainerNames, std::less<>> NamesInStorage(std::string_view json);

// A directory of /var/log/pods, "NAMESPACE_POD_UID".
struct PodOfLogs {
  std::string_view name_space = {}, pod = {}, uid = {};
};
PodOfLogs PodOfLogDirectory(std::string_view name);

// A file of /var/log/containers, "POD_NAMESPACE_CONTAINER-ID.log". The id is 64 digits. The other
// names are cut if they are long (kubelet, legacy.go).
struct ContainerLog {
  std::string_view id = {};
  ContainerNames names = {};
};
ContainerLog ContainerOfLog(std::string_view file);

}  // namespace perftape::record
