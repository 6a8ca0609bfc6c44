// SPDX-License-Identifier: Apache-2.0
// Times in which a recording had switched its events off. Without waits and wakeups, nothing is
// known about the states of threads.
#pragma once

#include <span>
#include <vector>

#include "convert/import/import_report.h"
#include "convert/timeline/thread_line.h"

namespace perftape::timeline {

// Returns the times in which the recording of an input had switched off all events, or waits; in
// ascending order of their starts.
std::vector<Span> PausesOf(const convert::ImportReport& input);

// Makes what `intervals` have in common with `pauses` State::kNotRecorded. Both are in ascending
// order; the intervals have no gaps, and neither has the result.
void BlankPauses(std::span<const Span> pauses, std::vector<Interval>& intervals);

}  // namespace perftape::timeline
