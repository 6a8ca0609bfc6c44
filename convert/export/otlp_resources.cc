// SPDX-License-Identifier: Apache-2.0
#include "convert/export/otlp_resources.h"

#include <string_view>
#include <tuple>
#include <utility>

#include "convert/export/otlp_dictionary.h"
#include "convert/model/label_keys.h"
#include "convert/model/otlp_roles.h"
#include "convert/model/profile_facts.h"
#include "convert/model/sample_thread.h"
#include "formats/cgroup/container_path.h"
#include "formats/otlp/conventions.h"

namespace perftape::convert {
namespace {

using otlp::AnyValue;
using otlp::KeyValue;

// Attributes that were found out, unless labels have them.
class Derived {
 public:
  explicit Derived(otlp::Resource& resource) : resource_(resource) {}

  void Add(std::string_view key, std::string_view text) {
    if (text.empty()) return;
    for (const KeyValue& known : resource_.attributes) {
      if (known.key == key) return;
    }
    resource_.attributes.push_back({.key = key, .value = AnyValue{.text = text}});
    keys_.values.push_back({.text = key});
  }

  // Adds the list of their keys.
  void Finish() && {
    resource_.attributes.push_back({.key = kOtlpDerived, .value = AnyValue{.array = keys_}});
  }

 private:
  otlp::Resource& resource_;
  otlp::ArrayValue keys_;
};

}  // namespace

bool IsOfOtlpResource(const Profile& profile, const Label& label) {
  const std::string_view key = profile.text(label.key);
  if (label.unit != StringId{}) return false;
  return key == kCgroupLabel || IsContainerLabel(key) ||
         (otlp::IsOfResource(key) && key != otlp::kProcessPid && key != otlp::kCgroupPath);
}

OtlpResources::OtlpResources(const Profile& profile) : profile_(profile) {
  // The comm of the main thread, or else of the one with the lowest number. A thread may have had
  // several: the first one in the order of texts.
  const auto rank = [&](std::uint32_t pid, std::uint32_t tid, StringId comm) {
    return std::tuple(tid != pid, tid, profile_.text(comm));
  };
  for (const auto& [pid, tid, comm] : profile.threads()) {
    if (comm == StringId{} || pid == kUnknownId) continue;
    const auto [known, is_new] = names_.try_emplace(pid, std::pair(tid, comm));
    const auto& [known_tid, known_comm] = known->second;
    if (rank(pid, tid, comm) < rank(pid, known_tid, known_comm)) known->second = {tid, comm};
  }
}

std::string_view OtlpResources::NameOf(std::uint32_t pid) const {
  const auto known = names_.find(pid);
  return known == names_.end() ? std::string_view() : profile_.text(known->second.second);
}

std::string_view OtlpResources::Keep(std::string text) {
  texts_.push_back(std::move(text));
  return texts_.back();
}

otlp::Resource OtlpResources::Of(std::uint32_t pid, std::span<const Label> labels) {
  texts_.clear();
  texts_.reserve(3);  // Keep returns views
  otlp::Resource resource;
  if (pid != kUnknownId) {
    resource.attributes.push_back(
        {.key = otlp::kProcessPid, .value = AnyValue{.integer = static_cast<std::int32_t>(pid)}});
  }
  std::string_view path, pod_namespace, pod, container;
  ForEachKey(labels, [&](std::span<const Label> of_key) {
    const std::string_view key = profile_.text(of_key.front().key);
    const std::string_view text = profile_.text(of_key.front().text);
    if (key == kCgroupLabel) path = text;
    if (key == kPodNamespaceLabel) pod_namespace = text;
    if (key == kPodLabel) pod = text;
    if (key == kContainerLabel) container = text;
    resource.attributes.push_back({.key = key == kCgroupLabel ? otlp::kCgroupPath : key,
                                   .value = ValueOfLabels(profile_, of_key)});
  });
  const std::string_view name = pid == kUnknownId ? std::string_view() : NameOf(pid);
  Derived derived(resource);
  derived.Add(otlp::kProcessExecutableName, name);
  cgroup::ContainerPath ids = cgroup::ParseContainerPath(path);
  derived.Add(otlp::kContainerId, Keep(std::move(ids.container_id)));
  derived.Add(otlp::kPodNamespace, pod_namespace);
  derived.Add(otlp::kPodName, pod);
  derived.Add(pod.empty() ? otlp::kContainerName : otlp::kPodContainerName, container);
  derived.Add(otlp::kPodUid, Keep(std::move(ids.pod_uid)));
  derived.Add(otlp::kHostName, FactOf(profile_.metadata(), kHostnameComment));
  if (!FactOf(profile_.metadata(), kOsReleaseComment).empty()) derived.Add(otlp::kOsType, "linux");
  derived.Add(otlp::kServiceName,
              name.empty() ? otlp::kUnknownService
                           : Keep(std::string(otlp::kUnknownService) + ":" + std::string(name)));
  std::move(derived).Finish();
  return resource;
}

}  // namespace perftape::convert
