// SPDX-License-Identifier: Apache-2.0
#include "record/doctor/event_kinds.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "record/events/event_attrs.h"
#include "record/events/known_events.h"

namespace perftape::record {
namespace {

EventKind Named(std::string kind, std::string event) {
  return {.kind = std::move(kind), .example = event, .event = event};
}

// "cycles" would become "cpu-clock" where there are no counters.
std::string HardwareExample(const EventMachine& machine) {
  for (const KnownEvent& event : KnownEvents()) {
    if (event.type == perfdata::kTypeSoftware) continue;
    if (machine.try_to_open(CounterAttr(event.type, event.config, Period{1'000'000}))) {
      return event.name;
    }
  }
  return "instructions";
}

// Programs rarely call it, so a probe of it disturbs nobody.
constexpr std::string_view kQuietKernelFunction = "vfs_fsync_range";

EventKind KindOfProbe(const ProbeUsage& probe) {
  EventKind kind{.kind = std::string(probe.word), .example = std::string(probe.usage)};
  if (IsInKernel(probe.kind)) {
    kind.event = fmt::format("{}:{}", probe.word, kQuietKernelFunction);
  } else {
    kind.probe_of_program = probe.kind;
  }
  return kind;
}

}  // namespace

std::vector<EventKind> EventKinds(const EventMachine& machine) {
  std::vector<EventKind> kinds = {
      Named("clock", "cpu-clock"), Named("software event", "page-faults"),
      Named("hardware event", HardwareExample(machine)), Named("tracepoint", "sched:sched_switch")};
  for (const EventSet& set : EventSets()) {
    kinds.push_back(Named("event set", std::string(set.name)));
  }
  kinds.push_back(Named("off-CPU time", std::string(OffCpuNames().front().name)));
  for (const ProbeUsage& probe : ProbeUsages()) kinds.push_back(KindOfProbe(probe));
  return kinds;
}

}  // namespace perftape::record
