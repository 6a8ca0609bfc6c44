// SPDX-License-Identifier: Apache-2.0
#include "tools/record/flight_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "record/events/known_events.h"
#include "tools/common/cli/escape.h"

namespace perftape::record_tool {
namespace {

std::unexpected<Error> BadTrigger(const std::string& trigger, std::string_view message) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("--trigger {}: {}", cli::EscapeForTerminal(trigger), message));
}

}  // namespace

Result<std::vector<record::TriggerSpec>> ParseTriggerOption(std::string_view option,
                                                            std::string_view text) {
  Result<record::TriggerSpec> trigger = record::ParseTrigger(text);
  if (trigger) return std::vector{*std::move(trigger)};
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("{}: '{}' is not a trigger: {}", option, cli::EscapeForTerminal(text),
                          trigger.error().message));
}

Status CheckTriggers(const record::RecordOptions& options) {
  const bool has_waits = std::ranges::find(options.input.events, record::kOffCpu,
                                           &record::EventSpec::name) != options.input.events.end();
  for (const record::TriggerSpec& trigger : options.flight->triggers) {
    const auto* const wait = std::get_if<record::WaitCondition>(&trigger.condition);
    if (wait == nullptr) continue;
    if (!has_waits) {
      return BadTrigger(trigger.text,
                        "waits are not recorded: add -e offcpu, or -e cpu-clock,offcpu");
    }
    if (wait->longer_than < options.input.off_cpu_threshold) {
      return BadTrigger(trigger.text,
                        "shorter than --off-cpu-threshold, below which waits are summed");
    }
  }
  return {};
}

}  // namespace perftape::record_tool
