// SPDX-License-Identifier: Apache-2.0
// Which of several events is shown first, and which number a stack is shown with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::convert {

// Returns the event to show if none is chosen. That is the one that the metadata names if it has
// values, otherwise the sampled event with the most samples; the first of those with equally many.
// Otherwise it is the last event with a value, as in pprof; the last one if all are empty. Nothing
// for a profile without events.
std::optional<EventId> DefaultEvent(const Profile& profile);

// Returns the events with samples: DefaultEvent first if it is one of them, then in their order.
std::vector<EventId> EventsWithSamples(const Profile& profile);

// The number that a stack is shown with: how many samples it has, or what these samples stand for.
// The two numbers of a sampled event. Plain values have one number.
enum class FoldedValue : std::uint8_t { kSamples, kPeriod };

// Returns `given` if it is set. Otherwise what the events are decides, and not to how many stacks
// their samples add up: kSamples if every sample stands for the event's nominal period, as those of
// clocks and of counters with a fixed period do. Else kPeriod: waits, locks and calls
// (event_meanings.h), events that were sampled at a frequency, and recordings whose samples were
// added up or whose rate changed. kSamples also if the events have no periods, or all of them
// are 1.
FoldedValue ChooseValue(const Profile& profile, std::optional<FoldedValue> given,
                        std::span<const EventId> events);

// Returns ChooseValue of each event alone, by EventId.
std::vector<FoldedValue> ChooseValues(const Profile& profile, std::optional<FoldedValue> given);

// Returns whether FoldedNumber is the number of samples for this event.
bool CountsSamples(const Profile& profile, FoldedValue value, EventId event);

// Returns the number of a sample: its count or its period, as `value` says; the number of a plain
// value.
std::int64_t FoldedNumber(const Profile& profile, FoldedValue value, const Sample& sample);

}  // namespace perftape::convert
