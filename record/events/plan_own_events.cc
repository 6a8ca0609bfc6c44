// SPDX-License-Identifier: Apache-2.0
#include "record/events/plan_own_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/tracepoints.h"
#include "record/events/event_attrs.h"
#include "record/events/known_events.h"
#include "record/events/plan_tracepoints.h"

namespace perftape::record {
namespace {

// Plans the tracepoints of the programs with the options of `spec`.
Result<std::vector<PlannedEvent>> PlanAttached(const EventSpec& spec, const ProgramEvent& program,
                                               const Tracefs& tracefs) {
  TRY_ASSIGN(std::vector<EventSpec> attached, ParseEvents(program.tracepoints));
  std::vector<PlannedEvent> planned;
  for (EventSpec& tracepoint : attached) {
    tracepoint.text = spec.text;
    tracepoint.rate = spec.rate;
    tracepoint.every = spec.every;
    TRY_ASSIGN(std::vector<PlannedEvent> events, PlanTracepoints(tracepoint, tracefs));
    planned.push_back(std::move(events.front()));
  }
  return planned;
}

bool HasFields(const PlannedEvent& tracepoint, std::span<const RawField> fields) {
  const auto format = perfdata::ParseTracepointFormat(tracepoint.format);
  return format && std::ranges::all_of(fields, [&](const RawField& field) {
           const perfdata::TracepointField* const found = format->Find(field.name);
           return found != nullptr && found->offset == field.offset && found->size == field.size;
         });
}

// perf report sorts by event, and not by the state of a thread.
struct OffCpuEvent {
  std::string_view spec;
  const perfdata::EventMeaning* in_file;
  SampleCause cause;
};
constexpr OffCpuEvent kEvents[] = {
    {kOffCpu, &perfdata::kOffCpuTime, SampleCause::kSleep},
    {kOffCpu, &perfdata::kOffCpuDiskTime, SampleCause::kDiskSleep},
    {kOffCpu, &perfdata::kOffCpuRunnableTime, SampleCause::kRunnable},
    {kWakers, &perfdata::kWakeup, SampleCause::kWakeup},
};

}  // namespace

Result<PlannedEvent> PlanProgram(const EventSpec& spec, const ProgramEvent& program,
                                 const Tracefs& tracefs) {
  if (!spec.conditions.empty()) {
    return FailEvent(spec, ErrorCode::kInvalidArgument, "if= is only for tracepoints");
  }
  if (spec.has_modifiers()) {
    return FailEvent(spec, ErrorCode::kInvalidArgument,
                     fmt::format("{} takes no modifiers", spec.name));
  }
  TRY_ASSIGN(std::vector<PlannedEvent> attached, PlanAttached(spec, program, tracefs));
  PlannedEvent event = std::move(attached.front());
  if (!HasFields(event, program.raw_fields)) {
    return FailEvent(spec, ErrorCode::kUnsupported,
                     fmt::format("{} has unexpected fields in this kernel", event.name));
  }
  if (program.raw_fields.empty()) {
    event.attr = BpfOutputAttr(event.settings.every);
    event.subsystem.clear();
    event.format.clear();
  }
  event.name = program.in_file->name;
  event.cause = SampleCause::kOwnProgram;
  event.program = &program;
  return event;
}

Result<std::vector<PlannedEvent>> PlanOffCpu(const EventSpec& spec) {
  if (spec.has_modifiers() || spec.rate || spec.every || !spec.conditions.empty()) {
    return FailEvent(spec, ErrorCode::kInvalidArgument,
                     fmt::format("{} takes no modifiers and no options: use --off-cpu-threshold "
                                 "TIME to sum up shorter waits",
                                 spec.name));
  }
  std::vector<PlannedEvent> events;
  for (const OffCpuEvent& event : kEvents) {
    if (event.spec != spec.name) continue;
    PlannedEvent& planned = events.emplace_back(PlannedEvent{
        .name = std::string(event.in_file->name), .attr = BpfOutputAttr(1), .cause = event.cause});
    // The tid of the woken thread. perfparser of hotspot compares only TID, TIME, ID, STREAM_ID,
    // CPU and IDENTIFIER between events.
    if (event.in_file->has_woken_thread) planned.attr.sample_type |= perfdata::kAddr;
  }
  return events;
}

Status CheckWakeup(std::span<const PlannedEvent> events) {
  const auto has = [&](SampleCause cause) {
    return std::ranges::find(events, cause, &PlannedEvent::cause) != events.end();
  };
  if (!has(SampleCause::kWakeup) || has(SampleCause::kSleep)) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "wakers are recorded together with the waits that they end: add -e offcpu");
}

}  // namespace perftape::record
