// SPDX-License-Identifier: Apache-2.0
// Reads the names of a container from the files of container engines, and from file names that a
// kubelet chooses. All functions return empty names for other texts.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace perftape::record {

struct ContainerNames {
  std::string pod_namespace = {}, pod = {};  // empty: not known, or not of Kubernetes
  std::string container = {};                // empty: not known, or the cgroup of the whole pod

  bool operator==(const ContainerNames&) const = default;
  // Replaces empty names by those of `other`.
  void Complete(const ContainerNames& other);
};

// "k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT": cri-dockerd and CRI-O. Other names are those of a
// container without a pod; docker's begin with a slash.
ContainerNames NamesOfEngine(std::string_view name);

// The config.json of containerd's shim (OCI runtime specification), with the annotations
// io.kubernetes.cri.* (internal/cri/annotations).
ContainerNames NamesInOciConfig(std::string_view json);

// The config.v2.json of docker: the labels io.kubernetes.*, or the name if there are none.
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
