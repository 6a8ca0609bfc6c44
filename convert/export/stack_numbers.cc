// SPDX-License-Identifier: Apache-2.0
#include "convert/export/stack_numbers.h"

#include <algorithm>
#include <array>

namespace perftape::convert {
namespace {

__extension__ using Wide = __int128;  // the product of two numbers of a sample

}  // namespace

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
