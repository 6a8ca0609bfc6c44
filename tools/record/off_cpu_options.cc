// SPDX-License-Identifier: Apache-2.0
#include "tools/record/off_cpu_options.h"

#include <fmt/format.h>

#include <algorithm>

#include "formats/base/duration.h"
#include "tools/common/cli/escape.h"

namespace perftape::record_tool {

Result<std::chrono::nanoseconds> ParseThreshold(std::string_view option, std::string_view text) {
  if (const auto threshold = DurationOf(text, std::chrono::milliseconds(1))) return *threshold;
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: '{}' is no time: use a number of milliseconds, or one with {}, such "
                          "as 500us",
                          option, cli::EscapeForTerminal(text), kDurationUnits));
}

Status AddWakers(std::vector<record::EventSpec>& events) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(events, name, &record::EventSpec::name) != events.end();
  };
  if (!has("offcpu")) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "--wakers: wakers are recorded together with the waits that they end: add -e offcpu");
  }
  if (!has("wakeup")) events.push_back({.text = "wakeup", .name = "wakeup"});
  return {};
}

}  // namespace perftape::record_tool
