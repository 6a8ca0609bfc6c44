// SPDX-License-Identifier: Apache-2.0
// Which of several events is shown first.
#pragma once

#include <optional>
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

}  // namespace perftape::convert
