// SPDX-License-Identifier: Apache-2.0
#include "tools/record/joint_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "record/events/event_plan.h"
#include "record/events/event_spec.h"
#include "record/events/known_events.h"
#include "record/output/name_pattern.h"
#include "tools/common/cli/escape.h"

namespace perftape::record_tool {
namespace {

std::unexpected<Error> WrongFiles(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// With --switch-output or --flight, -o is a pattern of names.
Status CheckPattern(std::string_view option, const record::RecordOptions& options) {
  if (options.output.file == "-") {
    return WrongFiles(fmt::format("{} writes files: use -o FILE instead of -o -", option));
  }
  const auto pattern = record::NamePattern::Parse(options.output.file, "host");
  if (pattern) return {};
  return WrongFiles(fmt::format("-o {}: {}", cli::EscapeForTerminal(options.output.file.native()),
                                pattern.error().message));
}

record::FileSeriesOptions SeriesOf(const Plan& plan) {
  return {.keep = plan.keep, .exec_on_switch = plan.exec_on_switch};
}

// Returns nothing without --switch-output or --timestamp-filename.
Result<std::optional<record::RotationOptions>> RotationOf(const Plan& plan,
                                                          const record::RecordOptions& options) {
  if (plan.timestamp_filename && !plan.switch_output) {
    TRY(CheckPattern("--timestamp-filename", options));
    return record::RotationOptions{.files = SeriesOf(plan)};
  }
  if (!plan.switch_output) {
    if (!plan.flight && (plan.keep.any() || !plan.exec_on_switch.empty())) {
      return WrongFiles(
          "--keep-files, --keep-bytes, --keep-age and --exec-on-switch need --switch-output or "
          "--flight");
    }
    return std::nullopt;
  }
  TRY(CheckPattern("--switch-output", options));
  return record::RotationOptions{.switch_bytes = plan.switch_output->bytes,
                                 .switch_interval = plan.switch_output->interval,
                                 .files = SeriesOf(plan)};
}

bool Has(const std::vector<record::EventSpec>& events, std::string_view name) {
  return std::ranges::find(events, name, &record::EventSpec::name) != events.end();
}

// The values of --why. A recorded wait costs some 10 us (bpf/README.md), so waits from 100 us on
// are slowed down by a tenth at most. At 99 samples per second, most runs between two waits of a
// server would have none, and so no function.
constexpr std::chrono::microseconds kPathThreshold{100};
constexpr std::uint64_t kPathFrequency = 999;

// Adds the events of --why that were not given, before the others, and sets rate and threshold.
Status PlanCriticalPath(Plan& plan) {
  record::InputOptions& input = plan.record.input;
  if (plan.call_graph && plan.call_graph->callchains == record::Callchains::kNone &&
      plan.call_graph->stack_bytes == 0) {
    return Fail(ErrorCode::kInvalidArgument,
                "--why: a path without call chains has no functions: use --call-graph eh, fp or "
                "dwarf");
  }
  TRY_ASSIGN(std::vector<record::EventSpec> events,
             record::ParseEvents(record::kCriticalPathEvents));
  std::erase_if(events, [&](const auto& event) { return Has(input.events, event.name); });
  for (record::EventSpec& event : events) event.text += " of --why";
  input.events.insert(input.events.begin(), events.begin(), events.end());
  input.off_cpu_threshold = kPathThreshold;
  input.rate = record::Frequency{
      std::min(kPathFrequency, recording::HighestFrequency().value_or(UINT64_MAX))};
  return {};
}

// Adds the event of --wakers.
Status AddWakers(std::vector<record::EventSpec>& events) {
  if (!Has(events, record::kOffCpu)) {
    return Fail(
        ErrorCode::kInvalidArgument,
        "--wakers: wakers are recorded together with the waits that they end: add -e offcpu");
  }
  if (Has(events, record::kWakers)) return {};
  const std::string wakers(record::kWakers);
  events.push_back({.text = wakers, .name = wakers});
  return {};
}

std::unexpected<Error> BadTrigger(const std::string& trigger, std::string_view message) {
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("--trigger {}: {}", cli::EscapeForTerminal(trigger), message));
}

// Fails with kInvalidArgument if a trigger is for waits that are not recorded, or that
// --off-cpu-threshold sums.
Status CheckTriggers(const record::RecordOptions& options) {
  const bool has_waits = Has(options.input.events, record::kOffCpu);
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

// The clock is what perf's option records beside the waits.
void AddWaits(std::vector<record::EventSpec>& events) {
  if (events.empty()) events.push_back(record::DefaultEvent());
  if (Has(events, record::kOffCpu)) return;
  const std::string waits(record::kOffCpu);
  events.push_back({.text = waits, .name = waits});
}

// Whether the event counts in user and kernel code.
bool HasModes(const record::EventSpec& event) {
  return !event.is_tracepoint() && !event.is_probe() && !event.is_latency() &&
         !record::IsOffCpuName(event.name) && record::FindEventSet(event.name) == nullptr;
}

// Replaces the modes of an event, also those of its group.
void SetMode(char letter, record::EventSpec& event) {
  for (std::string* const letters : {&event.modifiers, &event.group_modifiers}) {
    std::erase_if(*letters, [](char old) { return std::string_view("ukh").contains(old); });
  }
  event.modifiers += letter;
}

// As in perf, the option wins over the modifiers of an event. Tracepoints, probes and sets of them
// are events of the kernel; waits stay as they are.
Status ApplyModes(OnlyModes only, std::vector<record::EventSpec>& events) {
  if (only == OnlyModes::kAsEvents) return {};
  if (events.empty()) events.push_back(record::DefaultEvent());
  for (record::EventSpec& event : events) {
    if (HasModes(event)) {
      SetMode(only == OnlyModes::kUser ? 'u' : 'k', event);
    } else if (only == OnlyModes::kUser && !record::IsOffCpuName(event.name)) {
      return record::FailEvent(event, ErrorCode::kInvalidArgument,
                               "--all-user: only clocks, counters and other events of perf itself "
                               "have modes: use :u behind each of them");
    }
  }
  return {};
}

// Sets nothing without --flight.
Status SetFlight(const Plan& plan, record::RecordOptions& options) {
  if (!plan.flight) {
    if (plan.triggers.empty() && !plan.cooldown && !plan.flight_memory) return {};
    return WrongFiles("--trigger, --cooldown and --flight-memory need --flight TIME");
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

Status PlanEvents(Plan& plan) {
  record::InputOptions& input = plan.record.input;
  if (plan.why) TRY(PlanCriticalPath(plan));
  const auto is_latency = [](const record::EventSpec& event) { return event.is_latency(); };
  if (plan.record.latency_interval && std::ranges::none_of(input.events, is_latency)) {
    return Fail(ErrorCode::kInvalidArgument, "--interval needs a latency probe: -e latency:SET");
  }
  constexpr std::chrono::milliseconds kShortestInterval{10};
  if (plan.record.latency_interval && *plan.record.latency_interval < kShortestInterval) {
    return Fail(ErrorCode::kInvalidArgument, "--interval: the shortest interval is 10ms");
  }
  if (plan.off_cpu) AddWaits(input.events);
  if (plan.wakers) TRY(AddWakers(input.events));
  return ApplyModes(plan.only_modes, input.events);
}

void PlanPerfOptions(Plan& plan) {
  record::InputOptions& input = plan.record.input;
  if (plan.kernel_callchains) {
    input.callchains = record::Callchains::kOnlyKernel;
    input.prefers_unwind_tables = false;
  }
  if (plan.no_build_ids) {
    plan.record.output.build_ids = false;
    plan.record.output.bundle.destination = record::BundleRequest::Destination::kNone;
  }
  constexpr std::chrono::milliseconds kUnbuffered{10};
  if (plan.no_buffering) plan.record.flush_interval = kUnbuffered;
}

}  // namespace perftape::record_tool
