// SPDX-License-Identifier: Apache-2.0
#include "convert/import/noted_services.h"

#include <map>
#include <string>
#include <utility>

namespace perftape::convert {

NotedServices::NotedServices(std::span<const bundle::NotedProcess> processes) {
  std::map<std::vector<std::pair<std::string, std::string>>, Id> ids;
  for (const bundle::NotedProcess& process : processes) {
    std::vector<std::pair<std::string, std::string>> key;
    for (const bundle::NotedAttribute& one : process.attributes)
      key.emplace_back(one.key, one.text);
    const auto [known, is_new] = ids.emplace(std::move(key), static_cast<Id>(attributes_.size()));
    if (is_new) attributes_.push_back(process.attributes);
    by_pid_[process.pid].push_back({.from_ns = process.from_ns,
                                    .until_ns = process.until_ns.value_or(UINT64_MAX),
                                    .id = known->second});
  }
}

NotedServices::Id NotedServices::Find(std::uint32_t pid, std::uint64_t time_ns) const {
  const auto of_pid = by_pid_.find(pid);
  if (of_pid == by_pid_.end()) return 0;
  for (const Interval& one : of_pid->second) {
    if (one.from_ns <= time_ns && time_ns < one.until_ns) return one.id;
  }
  return 0;
}

}  // namespace perftape::convert
