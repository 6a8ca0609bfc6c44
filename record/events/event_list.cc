// SPDX-License-Identifier: Apache-2.0
#include "record/events/event_list.h"

#include <fnmatch.h>

#include <utility>

#include "record/events/event_attrs.h"
#include "record/events/event_sets.h"
#include "record/events/known_events.h"
#include "record/events/off_cpu_events.h"

namespace perftape::record {
namespace {

std::string_view KindOf(const KnownEvent& event) {
  if (event.trigger == Trigger::kTimer) return "clock";
  return event.type == perfdata::kTypeSoftware ? "software event" : "hardware event";
}

void AddTracepoints(const std::string& pattern, const EventMachine& machine,
                    std::vector<ListedEvent>& events) {
  constexpr std::string_view kKind = "tracepoint";
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

}  // namespace

std::vector<ListedEvent> ListEvents(std::string_view glob, const EventMachine& machine) {
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
    events.push_back({std::string(set.name), "", set.meaning, plan ? "" : plan.error().message});
  }
  for (const OffCpuName& name : OffCpuNames()) {
    if (!matches(std::string(name.name))) continue;
    const Status works = machine.off_cpu();
    events.push_back(
        {std::string(name.name), "", name.meaning, works ? "" : works.error().message});
  }
  AddTracepoints(pattern, machine, events);
  return events;
}

}  // namespace perftape::record
