// SPDX-License-Identifier: Apache-2.0
// Waits with timeouts. A loop that waits with a timeout waits again where it waited. What ended the
// last wait would have ended the ones before it, too: together they are one wait.
#pragma once

#include <cstdint>

#include "convert/timeline/stack_facts.h"
#include "convert/timeline/timeline.h"

namespace perftape::timeline {

// Returns the start of the first of the waits that are one with `wait`, an interval of `line`: they
// wait in the same place, a timer ended each, and the thread woke nobody and ran shortly in
// between. Without one, returns the start of `wait`. What is before `floor` is not looked at.
// `facts` are of the timeline's profile.
std::int64_t StartOfTimeouts(const Timeline& timeline, StackFacts& facts, const ThreadLine& line,
                             const Interval& wait, std::int64_t floor);

}  // namespace perftape::timeline
