// SPDX-License-Identifier: Apache-2.0
// The options of a flight recording: the last seconds stay in memory until a trigger writes them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "record/output/retention.h"
#include "record/output/switch_request.h"
#include "record/triggers/trigger_spec.h"

namespace perftape::record {

inline constexpr std::uint64_t kUsualFlightMemory = std::uint64_t{256} << 20;

struct FlightOptions {
  std::chrono::nanoseconds span{};            // what is kept
  std::uint64_t memory = kUsualFlightMemory;  // for records, in bytes; the oldest go first
  std::vector<TriggerSpec> triggers = {};
  // After a file, triggers write none for this long; nothing: as long as the span.
  std::optional<std::chrono::nanoseconds> cooldown = {};
  // Writes a file at once. Null: never. Must outlive the recording.
  SwitchRequest* request = nullptr;
  RetentionLimits keep = {};
  // Run by the shell for each finished file, whose path is appended as an argument. May be empty.
  std::string exec_on_switch = {};
};

}  // namespace perftape::record
