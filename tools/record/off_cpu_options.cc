// SPDX-License-Identifier: Apache-2.0
#include "tools/record/off_cpu_options.h"

#include <algorithm>

#include "record/events/known_events.h"
#include "tools/common/cli/values.h"

namespace perftape::record_tool {

Result<std::chrono::nanoseconds> ParseThreshold(std::string_view option, std::string_view text) {
  return cli::ParseTimeWith(option, text,
                            {.shortest = std::chrono::nanoseconds(0),
                             .bare_unit = std::chrono::milliseconds(1),
                             .bare_units = "milliseconds"});
}

Status AddWakers(std::vector<record::EventSpec>& events) {
  const auto has = [&](std::string_view name) {
    return std::ranges::find(events, name, &record::EventSpec::name) != events.end();
  };
  if (!has(record::kOffCpu)) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "--wakers: wakers are recorded together with the waits that they end: add -e offcpu");
  }
  if (has(record::kWakers)) return {};
  const std::string wakers(record::kWakers);
  events.push_back({.text = wakers, .name = wakers});
  return {};
}

}  // namespace perftape::record_tool
