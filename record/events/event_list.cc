// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_list.h"

#include <fnmatch.h>

#include <functional>
#include <utility>

#include "formats/perfdata/latency_probes.h"
#include "formats/perfdata/period_unit.h"
#include "record/events/event_attrs.h"
#include "record/events/known_events.h"
#include "record/events/plan_probes.h"
#include "record/probes/probe_spec.h"

namespace perftape::record {
namespace {

std::string KindOf(const KnownEvent& event) {
  if (event.cause == SampleCause::kTimer) return "clock";
  return event.type == perfdata::kTypeSoftware ? "software event" : "hardware event";
}

void AddTracepoints(const std::string& pattern, const EventMachine& machine,
                    std::vector<ListedEvent>& events) {
  const std::string kKind = "tracepoint";
  const Result<Tracefs> tracefs = machine.tracefs();
  if (!tracefs) {
    events.push_back({"SUBSYSTEM:NAME", "", kKind, tracefs.error().message});
    return;
  }
  for (const std::string& subsystem : tracefs->Subsystems()) {
    if (subsystem == "ftrace") continue;  // these are no tracepoints
    for (const std::string& tracepoint : tracefs->TracepointsOf(subsystem)) {
      std::string name = subsystem + ":" + tracepoint;
      if (fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
      events.push_back({std::move(name), "", kKind, ""});
    }
  }
}

void AddLatencyProbes(const std::function<bool(const std::string&)>& matches,
                      const EventMachine& machine, std::vector<ListedEvent>& events) {
  const std::string default_set(perfdata::kLatencySystem);
  if (matches(default_set)) {
    std::string names;
    for (const perfdata::LatencyProbe& probe : perfdata::LatencyProbes()) {
      if (probe.is_default) names.append(names.empty() ? "" : ", ").append(probe.name);
    }
    events.push_back({default_set, "", "the latency probes that cost least: " + names, ""});
  }
  for (const perfdata::LatencyProbe& probe : perfdata::LatencyProbes()) {
    const std::string name = std::string(perfdata::kLatencyPrefix).append(probe.name);
    const std::string set =
        probe.set.empty() ? "" : std::string(perfdata::kLatencyPrefix).append(probe.set);
    if (!matches(name) && !matches(set)) continue;
    const Status works = machine.latency(probe.name);
    events.push_back({name, set == name ? "" : set, std::string(probe.meaning),
                      works ? "" : works.error().message});
  }
}

void AddProbeKinds(const std::function<bool(const std::string&)>& matches,
                   const EventMachine& machine, std::vector<ListedEvent>& events) {
  for (const ProbeUsage& probe : ProbeUsages()) {
    const std::string usage(probe.usage);
    if (!matches(usage)) continue;
    const Status there = machine.check_probe_kind(probe.kind);
    events.push_back({usage, "", std::string(probe.meaning), there ? "" : there.error().message});
  }
}

// "uprobe:libc:*alloc*"
Result<std::vector<ListedEvent>> ListProbes(std::string_view name, const EventMachine& machine) {
  TRY_ASSIGN(const ProbeSpec probe, ParseProbe(name));
  const EventSpec spec{.text = std::string(name), .name = std::string(name)};
  TRY_ASSIGN(const std::vector<std::string> names, MatchingProbes(spec, machine));
  const Status there = machine.check_probe_kind(probe.kind);
  std::vector<ListedEvent> events;
  for (const std::string& matching : names) {
    events.push_back(
        {matching, "", std::string(WordOf(probe.kind)), there ? "" : there.error().message});
  }
  return events;
}

// "a wait for a lock of the kernel, in nanoseconds: lock:contention_begin,..."
std::string TextOf(const EventSet& set) {
  std::string text(set.meaning);
  const std::string_view unit =
      set.program != nullptr ? set.program->in_file->unit : perfdata::kCount;
  if (unit != perfdata::kCount) text.append(", in ").append(unit);
  return text.append(": ").append(set.events);
}

}  // namespace

Result<std::vector<ListedEvent>> ListEvents(std::string_view glob, const EventMachine& machine) {
  if (ProbeKindOf(glob)) return ListProbes(glob, machine);
  std::string pattern(glob);
  if (glob.find_first_of("*?[") == std::string_view::npos) pattern = "*" + pattern + "*";
  const auto matches = [&](const std::string& name) {
    return !name.empty() && fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
  };
  std::vector<ListedEvent> events;
  for (const KnownEvent& event : KnownEvents()) {
    if (!matches(event.name) && !matches(event.alias)) continue;
    const Status opened =
        machine.try_to_open(CounterAttr(event.type, event.config, Period{1'000'000}));
    events.push_back(
        {event.name, event.alias, KindOf(event), opened ? "" : opened.error().message});
  }
  for (const EventSet& set : EventSets()) {
    if (!matches(std::string(set.name))) continue;
    const Result<std::vector<EventSpec>> specs = ParseEvents(set.name);
    const Result<EventPlan> plan =
        PlanEvents(specs.value(), Period{1'000'000}, MissingEvents::kFail, machine);
    events.push_back({std::string(set.name), "", TextOf(set), plan ? "" : plan.error().message});
  }
  for (const OffCpuName& name : OffCpuNames()) {
    if (!matches(std::string(name.name))) continue;
    const Status works = machine.off_cpu();
    events.push_back({std::string(name.name), "", std::string(name.meaning),
                      works ? "" : works.error().message});
  }
  AddLatencyProbes(matches, machine, events);
  AddProbeKinds(matches, machine, events);
  AddTracepoints(pattern, machine, events);
  return events;
}

}  // namespace perftape::record
