// SPDX-License-Identifier: Apache-2.0
#include "convert/export/shown_numbers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "convert/export/differential.h"
#include "convert/model/saturating.h"
#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/period_unit.h"

namespace perftape::convert {
namespace {

// What an event has of samples.
struct EventSums {
  std::uint64_t samples = 0;
  bool has_values = false;  // a number that is not 0
};

std::vector<EventSums> SumsOfEvents(const Profile& profile) {
  std::vector<EventSums> sums(profile.events().size());
  for (const Sample& sample : profile.samples()) {
    EventSums& event = sums[sample.event.index];
    // A difference of profiles has negative counts.
    event.samples = AddUpToLimit(event.samples,
                                 static_cast<std::uint64_t>(sample.count < 0 ? 0 : sample.count));
    event.has_values |= sample.count != 0 || sample.period != 0;
  }
  return sums;
}

// Returns whether `wanted` names an event: a sampled one becomes two sample types of pprof.
bool IsCalled(const Profile& profile, const Event& event, std::string_view wanted) {
  const std::string_view name = profile.text(event.name);
  if (wanted.empty() || !wanted.starts_with(name)) return false;
  const std::string_view rest = wanted.substr(name.size());
  const bool is_sampled = event.values == EventValues::kSampled;
  return rest.empty() || (is_sampled && (rest == "_sample" || rest == "_event"));
}

__extension__ using Wide = __int128;  // the product of two numbers of a sample

bool IsClock(std::string_view event) {
  return perfdata::PeriodMeaningOf(event) == perfdata::PeriodMeaning::kCpuTime;
}

bool MeasuresTime(std::string_view event) {
  const perfdata::EventMeaning* const meaning = perfdata::FindEventMeaning(event);
  return meaning != nullptr && meaning->unit == perfdata::kNanoseconds && !IsClock(event);
}

// What the samples of an event stand for.
struct Amounts {
  bool is_new_clock = false;  // a clock of which no sample was seen
  bool have_weights = false;  // periods that differ from the number of samples
  std::uint64_t period = 0;   // of each sample; 0 if it varies or is not known
};

// The kernel gives all samples of a clock the same period. So if that of a first sample is no sum
// of nominal ones, it is the nominal one, whatever the attributes say.
std::uint64_t PeriodOfClock(const Sample& first, std::uint64_t nominal) {
  if (first.count <= 0 || first.period <= 0 || nominal == 0) return nominal;
  const auto period = static_cast<std::uint64_t>(first.period / first.count);
  return period % nominal == 0 ? nominal : period;
}

// Returns the amounts by EventId. A nominal period counts only if all samples have it: then it does
// not matter how many stacks they are added up to.
std::vector<Amounts> AmountsOf(const Profile& profile) {
  std::vector<Amounts> amounts;
  for (const Event& event : profile.events()) {
    const std::string_view name = NameOnBothSides(profile.text(event.name));
    amounts.push_back(
        {.is_new_clock = IsClock(name), .period = MeasuresTime(name) ? 0 : event.period});
  }
  for (const Sample& sample : profile.samples()) {
    Amounts& of_event = amounts[sample.event.index];
    if (profile[sample.event].values != EventValues::kSampled || sample.period == 0) continue;
    if (of_event.is_new_clock) of_event.period = PeriodOfClock(sample, of_event.period);
    of_event.is_new_clock = false;
    of_event.have_weights |= sample.period != sample.count;
    if (Wide{sample.count} * of_event.period != Wide{sample.period}) of_event.period = 0;
  }
  return amounts;
}

}  // namespace

std::optional<EventId> DefaultEvent(const Profile& profile) {
  const auto events = profile.events();
  if (events.empty()) return {};
  const std::vector<EventSums> sums = SumsOfEvents(profile);
  std::optional<EventId> largest, last_plain;
  for (std::uint32_t i = 0; i < events.size(); ++i) {
    if (!sums[i].has_values) continue;
    if (IsCalled(profile, events[i], profile.metadata().default_value)) return EventId{i};
    if (events[i].values == EventValues::kPlain) {
      last_plain = EventId{i};
    } else if (!largest || sums[i].samples > sums[largest->index].samples) {
      largest = EventId{i};
    }
  }
  if (largest) return largest;
  return last_plain ? last_plain : EventId{static_cast<std::uint32_t>(events.size() - 1)};
}

std::vector<EventId> EventsWithSamples(const Profile& profile) {
  std::vector<bool> has_samples(profile.events().size());
  for (const Sample& sample : profile.samples()) has_samples[sample.event.index] = true;
  std::vector<EventId> events;
  for (std::uint32_t i = 0; i < has_samples.size(); ++i) {
    if (has_samples[i]) events.push_back(EventId{i});
  }
  const auto first = DefaultEvent(profile);
  std::ranges::stable_partition(events, [&](EventId event) { return event == first; });
  return events;
}

FoldedValue ChooseValue(const Profile& profile, std::optional<FoldedValue> given,
                        std::span<const EventId> events) {
  if (given) return *given;
  const std::vector<Amounts> amounts = AmountsOf(profile);
  std::optional<std::uint64_t> common;  // the nominal period of those before
  for (const EventId id : events) {
    const Amounts& of_event = amounts[id.index];
    if (!of_event.have_weights) continue;
    if (of_event.period == 0 || of_event.period != common.value_or(of_event.period)) {
      return FoldedValue::kPeriod;
    }
    common = of_event.period;
  }
  return FoldedValue::kSamples;
}

std::vector<FoldedValue> ChooseValues(const Profile& profile, std::optional<FoldedValue> given) {
  std::vector<FoldedValue> values;
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    values.push_back(ChooseValue(profile, given, std::array{EventId{i}}));
  }
  return values;
}

bool CountsSamples(const Profile& profile, FoldedValue value, EventId event) {
  return value == FoldedValue::kSamples && profile[event].values == EventValues::kSampled;
}

std::int64_t FoldedNumber(const Profile& profile, FoldedValue value, const Sample& sample) {
  return CountsSamples(profile, value, sample.event) ? sample.count : sample.period;
}

}  // namespace perftape::convert
