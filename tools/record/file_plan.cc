// SPDX-License-Identifier: Apache-2.0
#include "tools/record/file_plan.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "record/output/name_pattern.h"
#include "tools/common/cli/escape.h"
#include "tools/record/flight_values.h"

namespace perftape::record_tool {
namespace {

std::unexpected<Error> WrongFiles(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// With --switch-output or --flight, -o is a pattern of names.
Status CheckPattern(std::string_view option, const record::RecordOptions& options) {
  if (options.output.file == "-") {
    return WrongFiles(fmt::format("{} writes files: -o - does not name a file", option));
  }
  const auto pattern = record::NamePattern::Parse(options.output.file, "host");
  if (pattern) return {};
  return WrongFiles(fmt::format("-o {}: {}", cli::EscapeForTerminal(options.output.file.native()),
                                pattern.error().message));
}

record::FileSeriesOptions SeriesOf(const Plan& plan) {
  return {.keep = plan.keep, .exec_on_switch = plan.exec_on_switch};
}

// Returns nothing without --switch-output.
Result<std::optional<record::RotationOptions>> RotationOf(const Plan& plan,
                                                          const record::RecordOptions& options) {
  if (!plan.switch_output) {
    if (!plan.flight && (plan.keep.any() || !plan.exec_on_switch.empty())) {
      return WrongFiles(
          "--keep-files, --keep-bytes, --keep-age and --exec-on-switch are for the files of "
          "--switch-output and --flight");
    }
    return std::nullopt;
  }
  TRY(CheckPattern("--switch-output", options));
  return record::RotationOptions{.switch_bytes = plan.switch_output->bytes,
                                 .switch_interval = plan.switch_output->interval,
                                 .files = SeriesOf(plan)};
}

// Sets nothing without --flight.
Status SetFlight(const Plan& plan, record::RecordOptions& options) {
  if (!plan.flight) {
    if (plan.triggers.empty() && !plan.cooldown && !plan.flight_memory) return {};
    return WrongFiles("--trigger, --cooldown and --flight-memory are for --flight TIME");
  }
  TRY(CheckPattern("--flight", options));
  options.flight = {.span = *plan.flight,
                    .memory = plan.flight_memory.value_or(record::kUsualFlightMemory),
                    .triggers = plan.triggers,
                    .cooldown = plan.cooldown,
                    .files = SeriesOf(plan)};
  return CheckTriggers(options);
}

}  // namespace

Status PlanFiles(const Plan& plan, record::RecordOptions& options) {
  TRY_ASSIGN(options.rotation, RotationOf(plan, options));
  return SetFlight(plan, options);
}

}  // namespace perftape::record_tool
