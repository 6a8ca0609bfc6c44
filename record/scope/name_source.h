// SPDX-License-Identifier: Apache-2.0
// Names of pods and containers from a slow source, such as a container runtime.
#pragma once

#include <cstdint>

#include "formats/cgroup/container_path.h"
#include "record/scope/container_files.h"

namespace perftape::record {

// Neither function waits, because the thread that empties the rings calls them.
class NameSource {
 public:
  virtual ~NameSource() = default;

  // Returns the known names of a cgroup's container; all empty if none are known. Asks for an
  // unknown id; a later answer may have it.
  virtual ContainerNames Find(const cgroup::ContainerPath& path) = 0;
  // Returns how often it has got an answer, or has failed, so far. Call it often.
  virtual std::uint64_t Answers() = 0;
};

}  // namespace perftape::record
