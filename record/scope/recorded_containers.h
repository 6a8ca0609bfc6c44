// SPDX-License-Identifier: Apache-2.0
// The containers and pods among the cgroups of a recording, for the notes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/bundle/recording_notes.h"
#include "record/scope/pod_names.h"

namespace perftape::record {

// Not thread-safe.
class RecordedContainers {
 public:
  // The cgroups of more containers are not noted.
  static constexpr std::size_t kMost = 16 * 1024;

  explicit RecordedContainers(PodNames names) : names_(std::move(names)) {}

  // Notes the cgroup if it is, or is in, a container or a pod, and looks up the names now, because
  // they may disappear soon. `path` is the path in the records.
  void Add(std::string_view path);
  // Looks up the names that were not known yet.
  void AddMissingNames();
  // Adds the names of new answers of the source of names. Does not wait. Call it often.
  void AddAnswers();

  // Returns those so far, by path. Makes no system call.
  std::vector<bundle::NotedContainer> Noted() const;

 private:
  PodNames names_;
  std::uint64_t answers_ = 0;  // of `names_` that were added
  std::map<std::string, bundle::NotedContainer, std::less<>> containers_;  // by path
};

}  // namespace perftape::record
