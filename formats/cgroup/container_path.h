// SPDX-License-Identifier: Apache-2.0
// The ids of containers and Kubernetes pods in the paths of cgroups, as the container engines and
// the kubelet name the directories, and the units of systemd:
//
//   /docker/ID   /system.slice/docker-ID.scope   libpod-ID.scope   crio-ID.scope
//   /kubepods/burstable/podUID/ID                              (driver cgroupfs)
//   /kubepods.slice/kubepods-podUID.slice/cri-containerd-ID.scope  (driver systemd; _ for - in UID)
//   /system.slice/containerd.service/kubepods-podUID.slice:cri-containerd:ID
//   /lxc.payload.NAME
//   /system.slice/NAME.service   /user.slice/user-UID.slice/session-ID.scope
#pragma once

#include <string>
#include <string_view>

namespace perftape::cgroup {

struct ContainerPath {
  std::string pod_uid = {};       // with '-': 8-4-4-4-12 digits; of a static pod 32; empty: no pod
  std::string container_id = {};  // 64 hexadecimal digits, or the name of LXC; empty: no container

  bool operator==(const ContainerPath&) const = default;
};

// Returns the innermost pod in the path of a cgroup, and the innermost container in it. Without a
// pod, returns the innermost container.
ContainerPath ParseContainerPath(std::string_view path);

// Returns the innermost unit of systemd in the path of a cgroup, as systemctl prints it:
// "nginx.service", "session-3.scope". Scopes that container engines make and everything in a pod
// are left out. Empty if there is no other unit.
std::string_view UnitIn(std::string_view path);

// Returns the part of a directory's name that may be the id of a container; empty for the names of
// slices and of conmon, which is outside of the container that it starts.
std::string_view ContainerIdIn(std::string_view directory);

// Whether an id may come from a container engine: hexadecimal digits. Tools print at least the
// first 12 of them.
bool IsContainerId(std::string_view id);

// Returns the uid of the pod in a directory's name, with '-'; empty if it is not that of a pod.
std::string PodUidIn(std::string_view directory);

}  // namespace perftape::cgroup
