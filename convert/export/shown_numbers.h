// SPDX-License-Identifier: Apache-2.0
// Chooses which of several events is shown first, and which number is shown for a stack.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::convert {

// Returns the event to show if none is chosen: the event that the metadata names, if it has values;
// otherwise the sampled event with the most samples (the first of several with equally many);
// otherwise the last event with a value, as in pprof; otherwise the last event. Returns nothing for
// a profile without events.
std::optional<EventId> DefaultEvent(const Profile& profile);

// Returns the events with samples: DefaultEvent first if it is one of them, then in their order.
std::vector<EventId> EventsWithSamples(const Profile& profile);

// The number that is shown for a stack of a sampled event: how many samples it has, or the sum of
// their periods. Plain values have one number only.
enum class FoldedValue : std::uint8_t { kSamples, kPeriod };

// Returns `given` if it is set. Otherwise the result depends on the events, but not on how their
// samples add up to stacks. It is kSamples if every sample has the event's nominal period, as for
// clocks and counters with a fixed period, and if the events have no periods or all periods are 1.
// It is kPeriod for waits, locks and calls (event_meanings.h), for events that were sampled at a
// frequency, and for recordings whose samples were added up or whose rate changed.
FoldedValue ChooseValue(const Profile& profile, std::optional<FoldedValue> given,
                        std::span<const EventId> events);

// Returns ChooseValue for each event by itself, by EventId.
std::vector<FoldedValue> ChooseValues(const Profile& profile, std::optional<FoldedValue> given);

// Returns whether FoldedNumber is the number of samples for this event.
bool CountsSamples(const Profile& profile, FoldedValue value, EventId event);

// Returns the number of a sample: its count or its period, as `value` says; the number of a plain
// value.
std::int64_t FoldedNumber(const Profile& profile, FoldedValue value, const Sample& sample);

}  // namespace perftape::convert
