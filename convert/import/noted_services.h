// SPDX-License-Identifier: Apache-2.0
// The service that a process was part of at a time, as it published it (NotedProcess).
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "formats/bundle/noted_processes.h"

namespace perftape::convert {

class NotedServices {
 public:
  // Identifies equal attributes, independently of the process. 0: none.
  using Id = std::uint32_t;

  NotedServices() = default;
  explicit NotedServices(std::span<const bundle::NotedProcess> processes);

  bool is_empty() const { return by_pid_.empty(); }
  // `time_ns` is that of a record.
  Id Find(std::uint32_t pid, std::uint64_t time_ns) const;
  std::span<const bundle::NotedAttribute> attributes(Id id) const { return attributes_[id]; }

 private:
  struct Interval {
    std::uint64_t from_ns = 0, until_ns = 0;  // without until_ns itself
    Id id = 0;
  };
  std::vector<std::vector<bundle::NotedAttribute>> attributes_ = {{}};  // by id
  std::unordered_map<std::uint32_t, std::vector<Interval>> by_pid_;
};

}  // namespace perftape::convert
