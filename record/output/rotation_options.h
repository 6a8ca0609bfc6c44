// SPDX-License-Identifier: Apache-2.0
// When a recording begins its next file, and what happens to the earlier ones.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "record/output/retention.h"
#include "record/output/switch_request.h"

namespace perftape::record {

struct RotationOptions {
  // A file ends when it has this size, or after this time. Without both, on request only.
  std::optional<std::uint64_t> switch_bytes = {};
  std::optional<std::chrono::nanoseconds> switch_interval = {};
  // Ends the file at once, in addition to the above. Null: never. Must outlive the recording.
  SwitchRequest* request = nullptr;
  RetentionLimits keep = {};
  // Run by the shell for each finished file, whose path is appended as an argument. May be empty.
  std::string exec_on_switch = {};
};

}  // namespace perftape::record
