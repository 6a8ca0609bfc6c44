// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <utility>

#include "formats/base/similar.h"
#include "formats/base/text.h"
#include "formats/perfdata/event_meanings.h"
#include "record/events/known_events.h"
#include "record/events/plan_latency.h"
#include "record/events/plan_own_events.h"
#include "record/events/plan_probes.h"
#include "record/events/plan_tracepoints.h"
#include "record/rings/cpu_events.h"

namespace perftape::record {
namespace {

void ExcludeModes(Modes modes, perfdata::EventAttr& attr) {
  if (modes == Modes::kUser) attr.flags |= perfdata::kExcludeKernel | perfdata::kExcludeHv;
  if (modes == Modes::kKernel) attr.flags |= perfdata::kExcludeUser | perfdata::kExcludeHv;
}

// A period of a clock is in nanoseconds. Below a microsecond, sampling would use up all the time.
constexpr std::uint64_t kShortestClockPeriod = 1000;

Result<PlannedEvent> PlanKnown(const EventSpec& spec, const KnownEvent& known, SamplingRate rate) {
  if (spec.every || !spec.conditions.empty()) {
    return FailEvent(spec, ErrorCode::kInvalidArgument,
                     "every= and if= are only for tracepoints: use period=N to sample one in N");
  }
  const SamplingRate own = spec.rate.value_or(rate);
  const Period* period = std::get_if<Period>(&own);
  const bool is_clock = known.cause == SampleCause::kTimer;
  if (is_clock && period != nullptr && period->count < kShortestClockPeriod) {
    return FailEvent(
        spec, ErrorCode::kInvalidArgument,
        fmt::format("a period of {} ns is too short for a clock; the shortest is {} ns",
                    period->count, kShortestClockPeriod));
  }
  PlannedEvent event{.name = NameInFile(known.name, spec.modes),
                     .attr = CounterAttr(known.type, known.config, own),
                     .cause = known.cause};
  ExcludeModes(spec.modes, event.attr);
  // An expiry in the other mode is no overflow, and no loss. The program cannot always tell it from
  // one.
  if (is_clock && spec.modes == Modes::kBoth) event.settings.period_ns = TimerPeriodNs(own);
  return event;
}

std::unexpected<Error> Unknown(const EventSpec& spec) {
  std::vector<std::string_view> names;
  for (const KnownEvent& event : KnownEvents()) {
    names.push_back(event.name);
    if (!event.alias.empty()) names.push_back(event.alias);
  }
  for (const EventSet& set : EventSets()) names.push_back(set.name);
  for (const OffCpuName& name : OffCpuNames()) names.push_back(name.name);
  const std::vector<std::string_view> similar = MostSimilar(spec.name, names);
  return FailEvent(spec, ErrorCode::kNotFound,
                   similar.empty()
                       ? "is not known; 'perftape-record list' shows all events"
                       : fmt::format("is not known; did you mean {}?", Joined(similar, " or ")));
}

class Planner {
 public:
  Planner(SamplingRate rate, MissingEvents missing, const EventMachine& machine)
      : rate_(rate), missing_(missing), machine_(machine) {}

  Status Add(const EventSpec& spec) {
    if (machine_.check_event) TRY(machine_.check_event(spec));
    if (spec.is_latency()) return AddLatency(spec);
    if (spec.is_probe()) return AddProbes(spec);
    if (spec.is_tracepoint()) return AddTracepoints(spec);
    if (const EventSet* set = FindEventSet(spec.name)) return AddSet(spec, *set);
    if (IsOffCpuName(spec.name)) return AddOffCpu(spec);
    const KnownEvent* known = FindKnownEvent(spec.name);
    if (known == nullptr) return Unknown(spec);
    TRY_ASSIGN(PlannedEvent event, PlanKnown(spec, *known, rate_));
    if (const Status opened = machine_.try_to_open(event.attr); !opened) {
      if (known->name == "cycles") return AddClockInsteadOfCycles(spec);
      return FailEvent(spec, opened.error());
    }
    return Append(spec, std::move(event));
  }

  void Skip(const Error& error) { plan_.warnings.push_back(error.message + ": not recorded"); }
  EventPlan& plan() { return plan_; }

 private:
  Status Append(const EventSpec& spec, PlannedEvent event) {
    for (const PlannedEvent& other : plan_.events) {
      if (other.name != event.name) continue;
      if (other.latency == event.latency &&
          std::memcmp(&other.settings, &event.settings, sizeof event.settings) == 0 &&
          other.attr.sample_period == event.attr.sample_period &&
          other.attr.flags == event.attr.flags) {
        return {};
      }
      return FailEvent(spec, ErrorCode::kInvalidArgument,
                       fmt::format("{} is given twice with different options: an event is recorded "
                                   "only once, so give all its options together",
                                   event.name));
    }
    plan_.events.push_back(std::move(event));
    return {};
  }

  Status AddProbes(const EventSpec& spec) {
    TRY_ASSIGN(std::vector<PlannedEvent> events, PlanProbes(spec, machine_));
    std::optional<Error> refused;
    bool is_any_added = false;
    for (PlannedEvent& event : events) {
      Status opened = missing_ == MissingEvents::kSkip ? TryToProbe(event) : Status();
      if (!opened) {
        if (refused) Skip(*refused);
        refused = InContext("event '" + event.name + "'", std::move(opened).error());
        continue;
      }
      TRY(Append(spec, std::move(event)));
      is_any_added = true;
    }
    if (!refused) return {};
    if (!is_any_added) return Fail(*std::move(refused));
    Skip(*refused);
    return {};
  }

  // Each costs some 0.1 s. Otherwise the start of the recording fails for the same reason.
  Status TryToProbe(const PlannedEvent& event) const {
    for (const ProbeLocation& location : event.locations) TRY(machine_.try_to_probe(location));
    return {};
  }

  Status FindTracefs() {
    if (tracefs_) return {};
    TRY_ASSIGN(Tracefs tracefs, machine_.tracefs());
    tracefs_.emplace(std::move(tracefs));
    return {};
  }

  Status AddTracepoints(const EventSpec& spec) {
    TRY(FindTracefs());
    TRY_ASSIGN(std::vector<PlannedEvent> events, PlanTracepoints(spec, *tracefs_));
    for (PlannedEvent& event : events) TRY(Append(spec, std::move(event)));
    return {};
  }

  // The options of the set are added to those of its members.
  Status AddSet(const EventSpec& spec, const EventSet& set) {
    if (set.program != nullptr) return AddProgram(spec, *set.program);
    TRY_ASSIGN(std::vector<EventSpec> members, ParseEvents(set.events));
    for (EventSpec& member : members) {
      member.text = spec.text;
      for (FieldCondition& condition : member.conditions) condition.may_be_missing = true;
      member.modes = spec.modes;
      member.rate = spec.rate;
      member.every = spec.every;
      std::ranges::copy(spec.conditions, std::back_inserter(member.conditions));
      TRY(Add(member));
    }
    return {};
  }

  Status AddProgram(const EventSpec& spec, const ProgramEvent& program) {
    TRY(FindTracefs());
    TRY_ASSIGN(PlannedEvent event, PlanProgram(spec, program, *tracefs_));
    return Append(spec, std::move(event));
  }

  Status AddLatency(const EventSpec& spec) {
    TRY_ASSIGN(LatencyPlan planned, PlanLatency(spec, machine_));
    for (PlannedEvent& event : planned.events) TRY(Append(spec, std::move(event)));
    for (const Error& error : planned.missing) Skip(error);
    return {};
  }

  Status AddOffCpu(const EventSpec& spec) {
    if (const Status works = machine_.off_cpu(); !works) {
      return FailEvent(spec, works.error());
    }
    TRY_ASSIGN(std::vector<PlannedEvent> events, PlanOffCpu(spec));
    for (PlannedEvent& event : events) TRY(Append(spec, std::move(event)));
    return {};
  }

  // As perf does (evsel__fallback).
  Status AddClockInsteadOfCycles(const EventSpec& spec) {
    plan_.warnings.push_back(fmt::format(
        "event '{}': no hardware counters on this machine: recorded cpu-clock instead", spec.text));
    EventSpec clock = spec;
    clock.name = DefaultEvent().name;
    // A period of cycles is no period of nanoseconds, but near it.
    return Add(clock);
  }

  SamplingRate rate_;
  MissingEvents missing_;
  const EventMachine& machine_;
  std::optional<Tracefs> tracefs_;
  EventPlan plan_;
};

bool MayBeSkipped(const Error& error) {
  return error.code == ErrorCode::kNotFound || error.code == ErrorCode::kUnsupported ||
         error.code == ErrorCode::kPermission;
}

}  // namespace

std::string NameInFile(std::string_view name, Modes modes) {
  const std::string_view modifiers[] = {"", ":u", ":k"};
  return std::string(name).append(modifiers[std::to_underlying(modes)]);
}

EventSpec DefaultEvent() {
  const std::string name(perfdata::kCpuClock.name);
  return {.text = name, .name = name};
}

EventMachine EventMachine::This() {
  return {.try_to_open = [](const perfdata::EventAttr& attr) { return TryToOpen(attr); }};
}

Result<EventPlan> PlanEvents(std::span<const EventSpec> specs, SamplingRate rate,
                             MissingEvents missing, const EventMachine& machine) {
  Planner planner(rate, missing, machine);
  if (specs.empty()) TRY(planner.Add(DefaultEvent()));
  std::optional<Error> skipped;
  for (const EventSpec& spec : specs) {
    Status added = planner.Add(spec);
    if (added) continue;
    if (missing == MissingEvents::kFail || !MayBeSkipped(added.error())) {
      return Fail(std::move(added).error());
    }
    skipped = std::move(added).error();
    planner.Skip(*skipped);
  }
  if (planner.plan().events.empty()) return Fail(*std::move(skipped));
  TRY(CheckWakeup(planner.plan().events));
  return std::move(planner.plan());
}

std::vector<BpfEvent> BpfEventsOf(std::span<const PlannedEvent> planned) {
  std::vector<BpfEvent> events;
  for (const PlannedEvent& event : planned) {
    BpfEvent sampled{.cause = event.cause,
                     .settings = event.settings,
                     .program = event.program,
                     .latency = event.latency};
    if (event.cause == SampleCause::kFunction) {
      sampled.probe = event.locations.front().kind;
      sampled.function = event.locations.front().target;
    }
    events.push_back(std::move(sampled));
  }
  return events;
}

}  // namespace perftape::record
