// SPDX-License-Identifier: Apache-2.0
#include "tools/record/file_values.h"

#include <fmt/core.h>

#include <utility>

#include "formats/base/byte_size.h"
#include "formats/base/duration.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/values.h"

namespace perftape::record_tool {
namespace {

std::unexpected<Error> BadMode(std::string_view option, std::string_view text) {
  // Without a unit, it could be a size or a time.
  const bool is_bare = !text.empty() && text.find_first_not_of("0123456789.") == text.npos;
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: '{}' {}: use 'signal', a size with {}, or a time with {}", option,
                          cli::EscapeForTerminal(text), is_bare ? "has no unit" : "is not a mode",
                          kSizeUnits, kDurationUnits));
}

}  // namespace

Result<SwitchMode> ParseSwitchMode(std::string_view option, std::string_view text) {
  if (text.empty() || text == "signal") return SwitchMode{};
  const auto bytes = SizeOf(text, 0);
  if (bytes && *bytes > 0 && *bytes <= cli::kLargestSize) return SwitchMode{.bytes = *bytes};
  const auto interval = DurationOf(text, std::chrono::nanoseconds(0));
  if (interval && interval->count() > 0) return SwitchMode{.interval = *interval};
  return BadMode(option, text);
}

Result<std::uint64_t> ParseFileCount(std::string_view option, std::string_view text) {
  return cli::ParseNumber(option, text, {.smallest = 1});
}

Result<std::string> ParseShellCommand(std::string_view option, std::string_view text) {
  if (text.empty()) {
    return Fail(ErrorCode::kInvalidArgument, fmt::format("{}: needs a command", option));
  }
  return std::string(text);
}

Result<std::vector<record::TriggerSpec>> ParseTriggerOption(std::string_view option,
                                                            std::string_view text) {
  Result<record::TriggerSpec> trigger = record::ParseTrigger(text);
  if (trigger) return std::vector{*std::move(trigger)};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: '{}' is not a trigger: {}", option, cli::EscapeForTerminal(text),
                          trigger.error().message));
}

}  // namespace perftape::record_tool
