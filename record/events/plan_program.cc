// SPDX-License-Identifier: Apache-2.0
#include "record/events/plan_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "formats/perfdata/tracepoints.h"
#include "record/events/event_attrs.h"
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
    tracepoint.modes = spec.modes;
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

}  // namespace

Result<PlannedEvent> PlanProgram(const EventSpec& spec, const ProgramEvent& program,
                                 const Tracefs& tracefs) {
  if (!spec.conditions.empty()) {
    return FailEvent(spec, ErrorCode::kInvalidArgument, "if= is for tracepoints");
  }
  TRY_ASSIGN(std::vector<PlannedEvent> attached, PlanAttached(spec, program, tracefs));
  PlannedEvent event = std::move(attached.front());
  if (!HasFields(event, program.raw_fields)) {
    return FailEvent(spec, ErrorCode::kUnsupported,
                     fmt::format("this kernel's {} has other fields", event.name));
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

}  // namespace perftape::record
