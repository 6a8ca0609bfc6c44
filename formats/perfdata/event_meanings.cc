// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/event_meanings.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "formats/perfdata/converted.h"
#include "formats/perfdata/event_modifiers.h"
#include "formats/perfdata/latency_probes.h"

namespace perftape::perfdata {
namespace {

template <class Condition>
const EventMeaning* FindMeaning(Condition condition) {
  const auto* const found = std::ranges::find_if(
      kEventMeanings, [&](const EventMeaning* row) { return condition(*row); });
  return found == std::end(kEventMeanings) ? nullptr : *found;
}

// The index is that of the probe.
std::vector<EventMeaning> LatencyMeanings() {
  std::vector<EventMeaning> meanings;
  for (const LatencyProbe& probe : LatencyProbes()) {
    EventMeaning& meaning = meanings.emplace_back(EventMeaning{.name = probe.event});
    if (probe.kind == LatencyKind::kCounted) continue;
    meaning.unit = kNanoseconds;
    meaning.period = PeriodMeaning::kLatency;
  }
  return meanings;
}

const EventMeaning* FindLatencyMeaning(std::string_view name) {
  static const std::vector<EventMeaning> kMeanings = LatencyMeanings();
  const LatencyProbe* const probe = FindLatencyEvent(name);
  return probe == nullptr ? nullptr
                          : &kMeanings[static_cast<std::size_t>(probe - LatencyProbes().data())];
}

std::string_view UnitOf(const EventMeaning* meaning) {
  return meaning != nullptr ? meaning->unit : kCount;
}

}  // namespace

const EventMeaning* FindEventMeaning(const EventAttr& attr, std::string_view name) {
  if (const EventMeaning* latency = FindLatencyMeaning(name)) {
    return attr.type == kTypeTracepoint ? latency : nullptr;
  }
  const std::string_view plain = WithoutModifiers(name);
  return FindMeaning([&](const EventMeaning& row) {
    if (!row.software) return row.name == plain;
    const bool is_it = attr.type == kTypeSoftware && attr.config == *row.software;
    return is_it && (row.name == plain || row.software != kSoftwareBpfOutput);
  });
}

const EventMeaning* FindEventMeaning(std::string_view name) {
  if (const EventMeaning* latency = FindLatencyMeaning(name)) return latency;
  const std::string_view plain = WithoutModifiers(name);
  return FindMeaning([&](const EventMeaning& row) { return row.name == plain; });
}

std::string_view PeriodUnitOf(const EventAttr& attr, std::string_view name) {
  return UnitOf(FindEventMeaning(attr, name));
}

std::string_view PeriodUnitOf(std::string_view name) {
  return UnitOf(FindEventMeaning(name));
}

PeriodMeaning PeriodMeaningOf(std::string_view name) {
  const EventMeaning* const meaning = FindEventMeaning(name);
  return meaning != nullptr ? meaning->period : PeriodMeaning::kOther;
}

bool IsWakeup(std::string_view name) {
  const EventMeaning* const meaning = FindEventMeaning(name);
  return meaning != nullptr && meaning->has_woken_thread;
}

bool HasWokenThread(const EventAttr& attr, std::string_view name) {
  const bool is_ours = attr.config == kSoftwareBpfOutput || attr.config == kSoftwareOfProfile;
  return attr.type == kTypeSoftware && is_ours && IsWakeup(name) && (attr.sample_type & kAddr) != 0;
}

}  // namespace perftape::perfdata
