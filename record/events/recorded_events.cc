// SPDX-License-Identifier: Apache-2.0
#include "record/events/recorded_events.h"

#include <algorithm>
#include <utility>

#include "record/events/cpu_list.h"
#include "record/rings/sideband.h"

namespace perftape::record {
namespace {

void AddIds(EventIds& ids, std::uint32_t event, std::span<const CpuEvent> opened) {
  for (const CpuEvent& on_cpu : opened) {
    ids.Add(event, static_cast<std::uint32_t>(on_cpu.cpu), on_cpu.id);
  }
}

void Replace(std::vector<CpuEvent>& events, CpuEvent event) {
  std::erase_if(events, [&](const CpuEvent& former) { return former.cpu == event.cpu; });
  events.push_back(std::move(event));
}

// Opens `attr` on one CPU.
Result<CpuEvent> OpenOnCpu(const perfdata::EventAttr& attr, int cpu) {
  const int only[] = {cpu};
  TRY_ASSIGN(std::vector<CpuEvent> events, OpenOnCpus(attr, only));
  return std::move(events.front());
}

}  // namespace

RecordedEvents::RecordedEvents(SamplingRate rate)
    : rate_(rate), format_(perfdata::FormatOf(SamplingAttr(rate))) {}

Result<RecordedEvents> RecordedEvents::Open(SamplingRate rate, std::span<const int> cpus) {
  RecordedEvents events(rate);
  TRY_ASSIGN(const std::vector<int> online, OnlineCpus());
  TRY_ASSIGN(events.sampling_,
             OpenOnCpus(AttrForBpf(SamplingAttr(rate)), cpus.empty() ? online : cpus));
  TRY_ASSIGN(events.sideband_, OpenOnCpus(AttrForPolling(SidebandAttr()), online));
  AddIds(events.ids_, kSamplingEvent, events.sampling_);
  AddIds(events.ids_, kSidebandEvent, events.sideband_);
  // CPUs that are offline now may be recorded before the end.
  if (Result<std::vector<int>> present = PresentCpus()) {
    events.present_cpus_ = *std::move(present);
    events.ids_.Reserve(kSamplingEvent, cpus.empty() ? events.present_cpus_ : cpus);
    events.ids_.Reserve(kSidebandEvent, events.present_cpus_);
  }
  return events;
}

Result<CpuEvent> RecordedEvents::ReopenSideband(int cpu) {
  TRY_ASSIGN(CpuEvent event, OpenOnCpu(AttrForPolling(SidebandAttr()), cpu));
  ids_.AddAlias(event.id, kSidebandEvent, static_cast<std::uint32_t>(cpu));
  return event;
}

Result<CpuEvent> RecordedEvents::ReopenSampling(int cpu) {
  TRY_ASSIGN(CpuEvent event, OpenOnCpu(AttrForBpf(SamplingAttr(rate_)), cpu));
  ids_.AddAlias(event.id, kSamplingEvent, static_cast<std::uint32_t>(cpu));
  return event;
}

void RecordedEvents::KeepSideband(CpuEvent event) {
  Replace(sideband_, std::move(event));
}

void RecordedEvents::KeepSampling(CpuEvent event) {
  Replace(sampling_, std::move(event));
}

bool RecordedEvents::IsSampled(int cpu) const {
  return ids_.Find(kSamplingEvent, static_cast<std::uint32_t>(cpu)).has_value();
}

Result<std::uint64_t> RecordedEvents::SamplingEnabledNs(int cpu) const {
  const auto event = std::ranges::find(sampling_, cpu, &CpuEvent::cpu);
  if (event == sampling_.end()) return Fail(ErrorCode::kNotFound, "");
  return EnabledNs(*event);
}

std::vector<perfdata::Event> RecordedEvents::AttributeTable() const {
  const auto row = [&](const perfdata::EventAttr& attr, std::uint32_t event) {
    return perfdata::Event{.attr = attr,
                           .format = format_,
                           .ids = ids_.IdsOf(event),
                           .name = perfdata::DefaultEventName(attr)};
  };
  return {row(SamplingAttr(rate_), kSamplingEvent), row(SidebandAttr(), kSidebandEvent)};
}

perfdata::SampleId RecordedEvents::TrailerOf(std::uint32_t event, std::uint32_t cpu,
                                             std::uint64_t time_ns) const {
  return {.time = time_ns, .id = ids_.Find(event, cpu).value_or(0), .cpu = cpu};
}

}  // namespace perftape::record
