// SPDX-License-Identifier: Apache-2.0
// Reads any bytes as the path of a cgroup, as each name and as each file that tells which pod a
// container is of. Users choose these: an id must not lead out of the directory in which its files
// are looked for.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "formats/cgroup/container_path.h"
#include "formats/cri/runtime_lists.h"
#include "record/scope/container_files.h"
#include "tools/serve/cri/name_lines.h"

namespace perftape::record {
namespace {

void Require(bool is_so) {
  if (!is_so) std::abort();
}

void CheckId(std::string_view id) {
  Require(id.find('/') == std::string_view::npos && id != "." && id != "..");
}

void CheckCgroup(std::string_view text) {
  const cgroup::ContainerPath path = cgroup::ParseContainerPath(text);
  CheckId(path.container_id);
  CheckId(path.pod_uid);
  Require(path.pod_uid.empty() || path.pod_uid.size() == 36 || path.pod_uid.size() == 32);
  // The path of a child without a name of its own is the same container.
  const std::string child = std::string(text) + "/child";
  Require(cgroup::ParseContainerPath(child) == path);
}

void CheckNames(std::string_view text) {
  (void)NamesOfEngine(text);
  const PodOfLogs pod = PodOfLogDirectory(text);
  if (!pod.uid.empty()) {
    std::string joined(pod.name_space);
    joined.append("_").append(pod.pod).append("_").append(pod.uid);
    Require(joined == text);
  }
  const ContainerLog log = ContainerOfLog(text);
  Require(log.id.empty() || (log.id.size() == 64 && cgroup::IsContainerId(log.id)));
}

void CheckFiles(std::string_view text) {
  Require(NamesInOciConfig(text) == NamesInOciConfig(text));
  Require(NamesInDockerConfig(text) == NamesInDockerConfig(text));
  for (const auto& [id, names] : NamesInStorage(text)) {
    Require(names != ContainerNames() || !id.empty());
  }
}

// What the decoder of a runtime's lists accepts becomes lines that are read again.
void CheckLists(std::string_view text) {
  const Result<std::vector<cri::PodSandbox>> pods = cri::DecodePodSandboxes(AsBytes(text));
  const Result<std::vector<cri::Container>> containers = cri::DecodeContainers(AsBytes(text));
  if (!pods || !containers) return;
  const std::string lines = serve::NameLines(*pods, *containers);
  const serve::NodeNames names = serve::ParseNameLines(lines);
  Require(lines.empty() == names.containers.empty());
  (void)serve::ParseNameLines(text);
}

}  // namespace
}  // namespace perftape::record

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  perftape::record::CheckCgroup(text);
  perftape::record::CheckNames(text);
  perftape::record::CheckFiles(text);
  perftape::record::CheckLists(text);
  return 0;
}
