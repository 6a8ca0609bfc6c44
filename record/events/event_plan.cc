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
#include "record/events/plan_counters.h"
#include "record/events/plan_latency.h"
#include "record/events/plan_own_events.h"
#include "record/events/plan_probes.h"
#include "record/events/plan_tracepoints.h"
#include "record/events/pmu_counters.h"
#include "record/rings/cpu_events.h"

namespace perftape::record {
namespace {

std::unexpected<Error> Unknown(const EventSpec& spec) {
  std::vector<std::string_view> names;
  for (const KnownEvent& event : KnownEvents()) {
    names.push_back(event.name);
    if (!event.alias.empty()) names.push_back(event.alias);
  }
  for (const EventSet& set : EventSets()) names.push_back(set.name);
  for (const OffCpuName& name : OffCpuNames()) names.push_back(name.name);
  const std::vector<std::string_view> similar = MostSimilar(spec.name, names);
  std::string instead = similar.empty() ? InsteadOfVendorName(spec.name)
                                        : fmt::format("did you mean {}?", Joined(similar, " or "));
  if (instead.empty()) instead = "'perftape-record list' shows all events";
  return FailEvent(spec, ErrorCode::kNotFound, "is not known; " + instead);
}

constexpr std::string_view kNoReads =
    "the modifier S reads counters into each sample, which BPF programs cannot do: leave it out, "
    "and each event has samples of its own";

// Makes the first event of each group the leader of those that are counted on the same CPUs. As in
// perf, only the leader is disabled, pinned and exclusive, which counts for all of them.
void ChooseLeaders(EventPlan& plan) {
  std::vector<PlannedEvent>& events = plan.events;
  for (std::size_t leader = 0; leader < events.size(); ++leader) {
    const PlannedEvent& first = events[leader];
    if (!first.group || first.leader || !IsPerCpu(first.cause)) continue;
    for (std::size_t member = leader + 1; member < events.size(); ++member) {
      PlannedEvent& event = events[member];
      if (event.group != first.group || event.cpus != first.cpus || !IsPerCpu(event.cause))
        continue;
      event.leader = leader;
      constexpr std::uint64_t kOfLeader =
          perfdata::kDisabled | perfdata::kPinned | perfdata::kExclusive;
      event.attr.flags &= ~kOfLeader;
      events[leader].leader = leader;
    }
  }
  for (const PlannedEvent& event : events) {
    if (!event.group || IsPerCpu(event.cause)) continue;
    plan.warnings.push_back(
        fmt::format("event '{}': is not counted, and recorded without its group", event.name));
  }
}

class Planner {
 public:
  Planner(SamplingRate rate, MissingEvents missing, const EventMachine& machine)
      : rate_(rate), missing_(missing), machine_(machine) {}

  // `spec` is one that the user wrote, in their order.
  Status AddNext(const EventSpec& spec) {
    if (spec.group == GroupRole::kFirst) ++groups_;
    return Add(spec);
  }

  Status Add(const EventSpec& spec) {
    if (machine_.check_event) TRY(machine_.check_event(spec));
    if (spec.modifiers.contains('S') || spec.group_modifiers.contains('S')) {
      return FailEvent(spec, ErrorCode::kUnsupported, kNoReads);
    }
    if (spec.name_in_file && !IsCounter(spec)) {
      return FailEvent(spec, ErrorCode::kInvalidArgument, "name= is only for counters and clocks");
    }
    if (spec.is_latency()) return AddLatency(spec);
    if (spec.is_probe()) return AddProbes(spec);
    if (spec.is_tracepoint()) return AddTracepoints(spec);
    if (const EventSet* set = FindEventSet(spec.name)) return AddSet(spec, *set);
    if (IsOffCpuName(spec.name)) return AddOffCpu(spec);
    return AddCounters(spec);
  }

  void Skip(const Error& error) { plan_.warnings.push_back(error.message + ": not recorded"); }
  EventPlan& plan() { return plan_; }

 private:
  static bool IsCounter(const EventSpec& spec) {
    return !spec.is_latency() && !spec.is_probe() && !spec.is_tracepoint() &&
           FindEventSet(spec.name) == nullptr && !IsOffCpuName(spec.name);
  }

  Status AddCounters(const EventSpec& spec) {
    Result<std::vector<PlannedEvent>> events = PlanCounters(spec, rate_, machine_);
    if (!events) {
      const std::optional<KnownEvent> known = FindKnownEvent(spec.name);
      const bool is_missing = events.error().code != ErrorCode::kInvalidArgument &&
                              events.error().code != ErrorCode::kCorrupt;
      if (is_missing && known && known->name == "cycles") return AddClockInsteadOfCycles(spec);
      return Fail(std::move(events).error());
    }
    if (events->empty()) return Unknown(spec);
    for (PlannedEvent& event : *events) TRY(Append(spec, std::move(event)));
    return {};
  }

  Status Append(const EventSpec& spec, PlannedEvent event) {
    if (spec.group != GroupRole::kNone) event.group = groups_;
    event.group_name = spec.group_name;
    for (const PlannedEvent& other : plan_.events) {
      if (other.name != event.name) continue;
      if (other.latency == event.latency &&
          std::memcmp(&other.settings, &event.settings, sizeof event.settings) == 0 &&
          other.attr.sample_period == event.attr.sample_period &&
          other.attr.flags == event.attr.flags && other.attr.type == event.attr.type &&
          other.attr.config == event.attr.config) {
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
      member.modifiers = spec.modifiers;
      member.group_modifiers = spec.group_modifiers;
      member.group = spec.group;
      member.group_name = spec.group_name;
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

  std::uint32_t groups_ = 0;
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

std::string NameInFile(std::string_view name, std::string_view modifiers) {
  std::string in_file(name);
  if (!modifiers.empty() && !name.ends_with('/')) in_file += ':';
  return in_file.append(modifiers);
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
    Status added = planner.AddNext(spec);
    if (added) continue;
    if (missing == MissingEvents::kFail || !MayBeSkipped(added.error())) {
      return Fail(std::move(added).error());
    }
    skipped = std::move(added).error();
    planner.Skip(*skipped);
  }
  if (planner.plan().events.empty()) return Fail(*std::move(skipped));
  TRY(CheckWakeup(planner.plan().events));
  ChooseLeaders(planner.plan());
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
