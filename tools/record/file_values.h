// SPDX-License-Identifier: Apache-2.0
// The values of options for several files: --switch-output, --keep-files, --exec-on-switch,
// --trigger.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"
#include "record/recorder_options.h"

namespace perftape::record_tool {

// The MODE of --switch-output; both empty for a signal.
struct SwitchMode {
  std::optional<std::uint64_t> bytes = {};
  std::optional<std::chrono::nanoseconds> interval = {};
};

// "signal" or nothing, a size with a unit (formats/base/byte_size.h), or a time with a unit
// (formats/base/duration.h).
Result<SwitchMode> ParseSwitchMode(std::string_view option, std::string_view text);

// A number of files, 1 or more.
Result<std::uint64_t> ParseFileCount(std::string_view option, std::string_view text);

// A command for the shell. Must not be empty.
Result<std::string> ParseShellCommand(std::string_view option, std::string_view text);

// A condition as trigger_spec.h describes it; a list of one.
Result<std::vector<record::TriggerSpec>> ParseTriggerOption(std::string_view option,
                                                            std::string_view text);

}  // namespace perftape::record_tool
