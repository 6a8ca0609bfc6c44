// SPDX-License-Identifier: Apache-2.0
// The lists of pods and containers that a container runtime of Kubernetes returns: messages of
// runtime.v1.RuntimeService (kubernetes/cri-api, pkg/apis/runtime/v1/api.proto).
#pragma once

#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::cri {

// All texts are views of the encoded bytes.
struct PodSandbox {
  std::string_view id = {};  // of the container that holds the namespaces of the pod
  std::string_view pod_uid = {}, pod_namespace = {}, pod = {};

  bool operator==(const PodSandbox&) const = default;
};

struct Container {
  std::string_view id = {};
  std::string_view sandbox_id = {};
  std::string_view name = {};

  bool operator==(const Container&) const = default;
};

// Decode ListPodSandboxResponse and ListContainersResponse. Fail with kCorrupt.
Result<std::vector<PodSandbox>> DecodePodSandboxes(Bytes encoded);
Result<std::vector<Container>> DecodeContainers(Bytes encoded);

}  // namespace perftape::cri
