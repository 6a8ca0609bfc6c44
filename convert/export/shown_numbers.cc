// SPDX-License-Identifier: Apache-2.0
#include "convert/export/shown_numbers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "convert/model/saturating.h"

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

// If period / count is the same for all rows, both numbers have the same shares, however the
// periods of a row's own samples differ.
bool HasUnequalAmounts(const Profile& profile, std::span<const EventId> events) {
  std::vector<bool> is_shown(profile.events().size());
  for (const EventId event : events) {
    is_shown[event.index] = profile[event].values == EventValues::kSampled;
  }
  const Sample* first = nullptr;
  return std::ranges::any_of(profile.samples(), [&](const Sample& sample) {
    if (!is_shown[sample.event.index] || (sample.count == 0 && sample.period == 0)) return false;
    if (first == nullptr) first = &sample;
    return Wide{sample.period} * first->count != Wide{first->period} * sample.count;
  });
}

FoldedValue ChooseValue(const Profile& profile, std::optional<FoldedValue> given,
                        std::span<const EventId> events) {
  if (given) return *given;
  return HasUnequalAmounts(profile, events) ? FoldedValue::kPeriod : FoldedValue::kSamples;
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
