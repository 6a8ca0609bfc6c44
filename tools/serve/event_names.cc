// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/event_names.h"

#include <algorithm>

#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/event_modifiers.h"
#include "formats/perfdata/latency_probes.h"
#include "record/events/event_spec.h"
#include "record/events/known_events.h"

namespace perftape::serve {
namespace {

using perfdata::PeriodMeaning;

constexpr std::string_view kProfile = "profile", kCpu = "cpu";

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

bool IsCpuTime(std::string_view event) {
  return perfdata::PeriodMeaningOf(event) == PeriodMeaning::kCpuTime || event == "cycles";
}

bool IsWaitOfThreads(std::string_view event) {
  return event == perfdata::kOffCpuTime.name || event == perfdata::kOffCpuDiskTime.name ||
         event == perfdata::kOffCpuRunnableTime.name;
}

// The names in a recording of a name for -e.
std::vector<std::string> NamesInRecording(std::string_view name) {
  const record::EventSet* const set = record::FindEventSet(name);
  if (set == nullptr) return {std::string(name)};
  if (set->program != nullptr) return {std::string(name), std::string(set->program->in_file->name)};
  std::vector<std::string> names = {std::string(name)};
  if (const auto events = record::ParseEvents(set->events)) {
    for (const record::EventSpec& event : *events) names.push_back(event.name);
  }
  return names;
}

}  // namespace

EventChoice::EventChoice(std::string_view name) {
  const std::string lower = LowerCase(name);
  if (name.empty()) {
    kind_ = Kind::kAll;
  } else if (lower == kProfile || lower == kCpu) {
    kind_ = Kind::kCpuTime;
  } else if (lower == record::kOffCpu) {
    kind_ = Kind::kWaits;
  } else {
    for (const std::string& one : NamesInRecording(lower)) names_.push_back(LowerCase(one));
  }
}

bool EventChoice::Has(std::string_view event) const {
  const std::string_view name = perfdata::WithoutModifiers(event);
  switch (kind_) {
    case Kind::kAll:
      return true;
    case Kind::kCpuTime:
      return IsCpuTime(name);
    case Kind::kWaits:
      return IsWaitOfThreads(name);
    case Kind::kNames:
      break;
  }
  return std::ranges::any_of(names_, [&](const std::string& one) {
    return one == LowerCase(event) || one == LowerCase(name);
  });
}

bool EventChoice::MayHave(std::string_view recorded) const {
  if (kind_ == Kind::kAll || recorded.contains('*')) return true;
  if (kind_ == Kind::kWaits) return recorded == record::kOffCpu;
  // A set of latency probes has names of its own.
  if (recorded.starts_with("latency:")) {
    return std::ranges::any_of(names_, [](const auto& one) { return one.starts_with("latency:"); });
  }
  return std::ranges::any_of(NamesInRecording(recorded),
                             [&](const std::string& name) { return Has(name); });
}

std::string RequestNameOf(std::string_view recorded) {
  return std::string(IsCpuTime(recorded) ? kProfile : recorded);
}

}  // namespace perftape::serve
