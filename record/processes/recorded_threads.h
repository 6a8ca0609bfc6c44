// SPDX-License-Identifier: Apache-2.0
// The threads of a recording without privileges, whose events are opened one by one.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace perftape::record {

// Whether events of a thread are also those of the threads and processes that it starts.
enum class Inherit : std::uint8_t { kNo, kYes };

struct RecordedThreads {
  std::vector<pid_t> sampled;
  Inherit inherit = Inherit::kYes;  // of the sampling events
  bool from_exec = false;           // sampling begins with the exec of the command
  // Their process events are recorded, and those of what they start.
  std::vector<pid_t> followed;
};

}  // namespace perftape::record
