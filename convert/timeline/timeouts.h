// SPDX-License-Identifier: Apache-2.0
// Waits with timeouts. A loop that waits with a timeout waits again in the same place. What ended
// the last wait would also have ended the ones before it, so together they count as one wait.
#pragma once

#include <cstdint>

#include "convert/timeline/stack_facts.h"
#include "convert/timeline/timeline.h"

namespace perftape::timeline {

// Returns the start of the first wait that counts as one with `wait`, an interval of `line`: they
// wait in the same place, a timer ended each, and in between the thread ran only shortly and woke
// no thread. If there is none, returns the start of `wait`. Does not look before `floor`. `facts`
// are of the timeline's profile.
std::int64_t StartOfTimeouts(const Timeline& timeline, StackFacts& facts, const ThreadLine& line,
                             const Interval& wait, std::int64_t floor);

}  // namespace perftape::timeline
