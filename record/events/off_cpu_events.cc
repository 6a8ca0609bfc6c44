// SPDX-License-Identifier: Apache-2.0
#include "record/events/off_cpu_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "formats/perfdata/event_meanings.h"
#include "record/events/event_attrs.h"

namespace perftape::record {
namespace {

constexpr OffCpuName kNames[] = {
    {kOffCpu, "waits of threads for locks, input, disks or a CPU, in nanoseconds"},
    {kWakers, "what ends these waits, in nanoseconds that the woken thread slept"},
};

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

std::span<const OffCpuName> OffCpuNames() {
  return kNames;
}

bool IsOffCpuName(std::string_view name) {
  return std::ranges::find(kNames, name, &OffCpuName::name) != std::end(kNames);
}

Result<std::vector<PlannedEvent>> PlanOffCpu(const EventSpec& spec) {
  if (spec.modes != Modes::kBoth || spec.rate || spec.every || !spec.conditions.empty()) {
    return FailEvent(spec, ErrorCode::kInvalidArgument,
                     fmt::format("{} has no modifiers and no options: --off-cpu-threshold TIME "
                                 "sums shorter waits",
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
