// SPDX-License-Identifier: Apache-2.0
#include "record/scope/container_files.h"

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include "formats/cgroup/container_path.h"
#include "formats/json/parse.h"

namespace perftape::record {
namespace {

using Json = json::Value;

// The names are at most this deep in lists and objects.
constexpr std::size_t kMaxDepth = 3;

// Returns null for a text that is not JSON.
Json Parse(std::string_view json) {
  return json::Parse(json, kMaxDepth).value_or(Json());
}

// Returns the member of an object; null for anything else.
const Json* Member(const Json* json, const char* name) {
  return json == nullptr ? nullptr : json->Find(name);
}

std::string TextOf(const Json* json, const char* name) {
  const Json* const member = Member(json, name);
  const std::string* const text = member == nullptr ? nullptr : member->AsText();
  return text == nullptr ? std::string() : *text;
}

// Splits at '_' into exactly `parts`; returns false for another number of them.
bool Split(std::string_view text, std::span<std::string_view> parts) {
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const std::size_t end = text.find('_');
    if (end == std::string_view::npos) return false;
    parts[i] = text.substr(0, end);
    text.remove_prefix(end + 1);
  }
  parts.back() = text;
  return !text.contains('_');
}

}  // namespace

void ContainerNames::Complete(const ContainerNames& other) {
  if (pod.empty()) {
    pod_namespace = other.pod_namespace;
    pod = other.pod;
  }
  if (container.empty()) container = other.container;
}

ContainerNames NamesOfEngine(std::string_view name) {
  if (name.starts_with('/')) name.remove_prefix(1);
  std::array<std::string_view, 6> parts;
  if (!name.starts_with("k8s_")) return {.container = std::string(name)};
  if (!Split(name, parts)) return {};
  return {.pod_namespace = std::string(parts[3]),
          .pod = std::string(parts[2]),
          .container = std::string(parts[1])};
}

ContainerNames NamesInOciConfig(std::string_view json) {
  const Json config = Parse(json);
  const Json* const annotations = Member(&config, "annotations");
  return {.pod_namespace = TextOf(annotations, "io.kubernetes.cri.sandbox-namespace"),
          .pod = TextOf(annotations, "io.kubernetes.cri.sandbox-name"),
          .container = TextOf(annotations, "io.kubernetes.cri.container-name")};
}

ContainerNames NamesInDockerConfig(std::string_view json) {
  const Json config = Parse(json);
  const Json* const labels = Member(Member(&config, "Config"), "Labels");
  ContainerNames names = {.pod_namespace = TextOf(labels, "io.kubernetes.pod.namespace"),
                          .pod = TextOf(labels, "io.kubernetes.pod.name"),
                          .container = TextOf(labels, "io.kubernetes.container.name")};
  return names.pod.empty() ? NamesOfEngine(TextOf(&config, "Name")) : names;
}

std::map<std::string, ContainerNames, std::less<>> NamesInStorage(std::string_view json) {
  std::map<std::string, ContainerNames, std::less<>> found;
  const Json containers = Parse(json);
  for (const Json& container : containers.elements()) {
    const Json* const names = Member(&container, "names");
    if (names == nullptr || names->elements().empty()) continue;
    const std::string* const first = names->elements().front().AsText();
    if (first == nullptr) continue;
    found.insert_or_assign(TextOf(&container, "id"), NamesOfEngine(*first));
  }
  return found;
}

PodOfLogs PodOfLogDirectory(std::string_view name) {
  std::array<std::string_view, 3> parts;
  if (!Split(name, parts)) return {};
  return {.name_space = parts[0], .pod = parts[1], .uid = parts[2]};
}

ContainerLog ContainerOfLog(std::string_view file) {
  constexpr std::string_view kEnding = ".log";
  constexpr std::size_t kIdDigits = 64;
  std::array<std::string_view, 3> parts;
  if (!file.ends_with(kEnding)) return {};
  file.remove_suffix(kEnding.size());
  if (!Split(file, parts) || parts[2].size() <= kIdDigits) return {};
  std::string_view container = parts[2].substr(0, parts[2].size() - kIdDigits);
  if (!container.ends_with('-')) return {};
  container.remove_suffix(1);
  const std::string_view id = parts[2].substr(parts[2].size() - kIdDigits);
  if (!cgroup::IsContainerId(id)) return {};
  return {.id = id,
          .names = {.pod_namespace = std::string(parts[1]),
                    .pod = std::string(parts[0]),
                    .container = std::string(container)}};
}

}  // namespace perftape::record
