// SPDX-License-Identifier: Apache-2.0
// Differential profiles: two profiles in one. Their samples are distinguished by their events. An
// event of both, "cycles", becomes the two events "cycles before" and "cycles after". The events of
// a differential folded file are just "before" and "after".
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/result.h"

namespace perftape::convert {

// Two events that are compared.
struct EventPair {
  std::string_view name;  // what their names have in common: "cycles", or empty; of the profile
  EventId before, after;
};

// Returns "cycles" of "cycles before" and of "cycles after"; other names unchanged.
std::string_view NameOnBothSides(std::string_view event);

// Returns the pairs of events, in the order of the events "after". `name` is valid as long as any
// copy of the profile.
std::vector<EventPair> EventPairsOf(const Profile& differential);

// Returns the pair of `event`, or of DefaultEvent if none is given; otherwise the first pair.
std::optional<EventPair> ChooseEventPair(const Profile& differential,
                                         std::optional<EventId> event = {});

// Fails with kNotFound if the profile has events, but no pair.
Status CheckDifferential(const Profile& profile);

// Returns the profile of two sides. It has a pair for each event, by name, of either side; a side
// without the event has no samples of it. If each side has samples of only one event, these two are
// a pair, whatever their names. Threads whose names differ only in numbers ("worker-1", "worker-2")
// are joined as "worker-#", because it is chance which thread does which work; pids and tids are
// left out. The comments are the facts of both sides, "before: hostname: box".
Profile MakeDifferential(const Profile& before, const Profile& after);

}  // namespace perftape::convert
