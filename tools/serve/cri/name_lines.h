// SPDX-License-Identifier: Apache-2.0
// The names of the pods and containers of a node as text, for another process. Each line has, with
// tabs between them: uid of the pod, its namespace, its name, id of the container, its name.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "formats/cri/runtime_lists.h"
#include "record/scope/container_files.h"

namespace perftape::serve {

struct NodeNames {
  using ById = std::map<std::string, record::ContainerNames, std::less<>>;
  ById pods = {};        // by uid, without a container
  ById containers = {};  // by id; that of a pod's sandbox has no name
};

// Leaves out what is no name of Kubernetes, and lines beyond kMostLines.
inline constexpr std::size_t kMostLines = 50'000;
std::string NameLines(std::span<const cri::PodSandbox> pods,
                      std::span<const cri::Container> containers);

// Lines that are not whole are ignored.
NodeNames ParseNameLines(std::string_view text);

}  // namespace perftape::serve
