// SPDX-License-Identifier: Apache-2.0
#include "record/events/plan_counters.h"

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <utility>

#include "record/events/event_attrs.h"
#include "record/events/event_number.h"
#include "record/events/known_events.h"
#include "record/events/pmu_counters.h"

namespace perftape::record {
namespace {

// The config of "r1a8".
std::optional<std::uint64_t> RawConfigOf(std::string_view name) {
  if (!name.starts_with('r')) return {};
  return ParseNumberInBase(name.substr(1), 16);
}

Result<std::vector<Counter>> FindCounters(const EventSpec& spec, const Pmus& pmus) {
  if (spec.breakpoint) {
    Counter counter{.name = spec.name};
    SetBreakpoint(*spec.breakpoint, counter.attr);
    return std::vector{counter};
  }
  if (const std::optional<KnownEvent> known = FindKnownEvent(spec.name)) {
    Counter counter{.name = known->name, .cause = known->cause};
    counter.attr.type = known->type;
    counter.attr.config = known->config;
    if (known->type == perfdata::kTypeSoftware) return std::vector{counter};
    return OnEachKindOfCore(counter, pmus);
  }
  if (const std::optional<std::uint64_t> config = RawConfigOf(spec.name)) {
    Counter counter{.name = spec.name};
    counter.attr.type = perfdata::kTypeRaw;
    counter.attr.config = *config;
    return OnEachKindOfCore(counter, pmus);
  }
  if (spec.text.contains('/')) return EventsOfPmus(spec, pmus);
  return EventsOfCores(spec, pmus);
}

// A period of a clock is in nanoseconds. Below a microsecond, sampling would use up all the time.
constexpr std::uint64_t kShortestClockPeriod = 1000;

Status CheckRate(const EventSpec& spec, const Counter& counter, SamplingRate rate) {
  const Period* period = std::get_if<Period>(&rate);
  if (counter.cause != SampleCause::kTimer || period == nullptr ||
      period->count >= kShortestClockPeriod) {
    return {};
  }
  return FailEvent(spec, ErrorCode::kInvalidArgument,
                   fmt::format("a period of {} ns is too short for a clock; the shortest is {} ns",
                               period->count, kShortestClockPeriod));
}

// As in perf, each access is a sample: a frequency is not for breakpoints.
SamplingRate OwnRate(const EventSpec& spec, SamplingRate rate) {
  if (spec.rate) return *spec.rate;
  if (spec.breakpoint && std::holds_alternative<Frequency>(rate)) return Period{1};
  return rate;
}

Result<PlannedEvent> PlanCounter(const EventSpec& spec, const Counter& counter,
                                 SamplingRate common) {
  const SamplingRate rate = OwnRate(spec, common);
  TRY(CheckRate(spec, counter, rate));
  PlannedEvent event{.name = spec.name_in_file.value_or(NameInFile(counter.name, spec.modifiers)),
                     .attr = CounterAttr(counter.attr.type, counter.attr.config, rate),
                     .cause = counter.cause,
                     .cpus = counter.cpus};
  event.attr.bp_type = counter.attr.bp_type;
  event.attr.config1 = counter.attr.config1;
  event.attr.config2 = counter.attr.config2;
  event.attr.config3 = counter.attr.config3;
  event.attr.config4 = counter.attr.config4;
  ApplyModifiers(spec, event.attr);
  // An expiry that is excluded is no overflow, and no loss. The program cannot always tell it from
  // one.
  constexpr std::uint64_t kExcluded =
      perfdata::kExcludeUser | perfdata::kExcludeKernel | perfdata::kExcludeIdle;
  if (counter.cause == SampleCause::kTimer && (event.attr.flags & kExcluded) == 0) {
    event.settings.period_ns = TimerPeriodNs(rate);
  }
  return event;
}

// Opens the event with the highest precision that the kernel has, for the modifier P.
Status TryPrecisions(PlannedEvent& event, const EventMachine& machine) {
  for (;;) {
    Status opened = machine.try_to_open(event.attr);
    const std::uint64_t precise = event.attr.flags >> perfdata::kPreciseIpShift & 3;
    if (opened || precise == 0) return opened;
    event.attr.flags -= std::uint64_t{1} << perfdata::kPreciseIpShift;
  }
}

Status TryToOpenEvent(const EventSpec& spec, PlannedEvent& event, const EventMachine& machine) {
  const bool has_highest = spec.modifiers.contains('P') || spec.group_modifiers.contains('P');
  Status opened = has_highest ? TryPrecisions(event, machine) : machine.try_to_open(event.attr);
  if (opened || opened.error().code != ErrorCode::kUnsupported) return opened;
  if (spec.breakpoint) {
    return Fail(ErrorCode::kUnsupported,
                "the kernel has no breakpoint with this address, length and access");
  }
  if (event.attr.type <= perfdata::kTypeRaw) return opened;
  return Fail(ErrorCode::kUnsupported,
              fmt::format("the kernel cannot sample this event of the PMU {}", spec.name));
}

}  // namespace

Result<std::vector<PlannedEvent>> PlanCounters(const EventSpec& spec, SamplingRate rate,
                                               const EventMachine& machine) {
  TRY_ASSIGN(const std::vector<Counter> counters, FindCounters(spec, machine.pmus));
  if (!counters.empty() && (spec.every || !spec.conditions.empty())) {
    return FailEvent(spec, ErrorCode::kInvalidArgument,
                     "every= and if= are only for tracepoints: use period=N to sample one in N");
  }
  std::vector<PlannedEvent> events;
  for (const Counter& counter : counters) {
    TRY_ASSIGN(PlannedEvent event, PlanCounter(spec, counter, rate));
    if (Status opened = TryToOpenEvent(spec, event, machine); !opened) {
      return FailEvent(spec, std::move(opened).error());
    }
    events.push_back(std::move(event));
  }
  return events;
}

}  // namespace perftape::record
