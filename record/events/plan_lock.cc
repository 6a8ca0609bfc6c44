// SPDX-License-Identifier: Apache-2.0
#include "record/events/plan_lock.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/tracepoints.h"
#include "record/events/plan_tracepoints.h"

namespace perftape::record {
namespace {

bool Has(const perfdata::TracepointFormat& format, std::string_view field, std::uint32_t offset,
         std::uint32_t size) {
  const perfdata::TracepointField* found = format.Find(field);
  return found != nullptr && found->offset == offset && found->size == size;
}

}  // namespace

Result<PlannedEvent> PlanLock(const EventSpec& spec, const EventSet& set, const Tracefs& tracefs) {
  if (!spec.conditions.empty()) {
    return FailEvent(spec, ErrorCode::kInvalidArgument, "if= is for tracepoints");
  }
  // The options are those of a tracepoint.
  TRY_ASSIGN(std::vector<EventSpec> members, ParseEvents(set.events));
  std::vector<PlannedEvent> planned;
  for (EventSpec& member : members) {
    member.text = spec.text;
    member.modes = spec.modes;
    member.rate = spec.rate;
    member.every = spec.every;
    TRY_ASSIGN(std::vector<PlannedEvent> events, PlanTracepoints(member, tracefs));
    planned.push_back(std::move(events.front()));
  }
  PlannedEvent event = std::move(planned.front());
  // bpf/lock.bpf.c writes these fields.
  constexpr std::uint32_t kAddress = 8, kFlags = 16;
  const auto format = perfdata::ParseTracepointFormat(event.format);
  if (!format || !Has(*format, "lock_addr", kAddress, 8) || !Has(*format, "flags", kFlags, 4)) {
    return FailEvent(spec, ErrorCode::kUnsupported,
                     "this kernel's lock:contention_begin has other fields");
  }
  event.name = perfdata::kLockTime.name;
  event.cause = SampleCause::kLock;
  return event;
}

}  // namespace perftape::record
