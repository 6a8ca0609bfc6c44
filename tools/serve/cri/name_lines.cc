// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/cri/name_lines.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <utility>

namespace perftape::serve {
namespace {

// Names and ids have letters, digits and some marks (DNS subdomains, uids, ids of containers).
bool IsName(std::string_view text) {
  constexpr std::size_t kLongest = 253;
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  };
  return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, is_part);
}

bool IsPod(const cri::PodSandbox& pod) {
  return IsName(pod.pod_uid) && IsName(pod.pod_namespace) && IsName(pod.pod);
}

void AppendLine(std::initializer_list<std::string_view> words, std::string& text) {
  for (const std::string_view word : words) text.append(word) += '\t';
  text.back() = '\n';
}

}  // namespace

std::string NameLines(std::span<const cri::PodSandbox> pods,
                      std::span<const cri::Container> containers) {
  std::string text;
  std::size_t lines = 0;
  std::map<std::string_view, const cri::PodSandbox*> by_sandbox;
  for (const cri::PodSandbox& pod : pods) {
    if (!IsPod(pod) || !IsName(pod.id) || ++lines > kMostLines) continue;
    by_sandbox.emplace(pod.id, &pod);
    AppendLine({pod.pod_uid, pod.pod_namespace, pod.pod, pod.id, ""}, text);
  }
  for (const cri::Container& container : containers) {
    const auto sandbox = by_sandbox.find(container.sandbox_id);
    if (sandbox == by_sandbox.end() || !IsName(container.id) || !IsName(container.name)) continue;
    if (++lines > kMostLines) break;
    const cri::PodSandbox& pod = *sandbox->second;
    AppendLine({pod.pod_uid, pod.pod_namespace, pod.pod, container.id, container.name}, text);
  }
  return text;
}

NodeNames ParseNameLines(std::string_view text) {
  NodeNames names;
  while (true) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return names;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (std::ranges::count(line, '\t') != 4) continue;
    std::array<std::string_view, 5> words;
    for (std::string_view& word : words) {
      word = line.substr(0, line.find('\t'));
      line.remove_prefix(std::min(line.size(), word.size() + 1));
    }
    const auto& [uid, name_space, pod, id, container] = words;
    record::ContainerNames of = {.pod_namespace = std::string(name_space), .pod = std::string(pod)};
    names.pods.insert_or_assign(std::string(uid), of);
    of.container = container;
    names.containers.insert_or_assign(std::string(id), std::move(of));
  }
}

}  // namespace perftape::serve
