// SPDX-License-Identifier: Apache-2.0
// The part of a page's data that contains what happened over time. It follows the tabs
// (page_data.h). Numbers are LEB128 without sign; a column has a number for each entry. Times are
// in units.
//
//   lanes, plus 1     their number; a single 0 if the page has no times, and nothing follows
//   start, unit       in nanoseconds
//   length            of the whole time
//   shortest          intervals that are shorter were joined; 0: none
//   sample time       samples of a stack within such a time were added up; 0: none
//   recorded          bits of TimeBits
//   main lane         its index plus 1; 0: unknown
//   waits for CPUs    how long threads waited, and how long programs that were not recorded ran
//                     there
//   kinds             a column of EventKind, by tab
//   lanes             columns: pid, tid, comm (a text), start, lane of the parent plus 1 (0: none),
//                     number of intervals
//   intervals         of all lanes, in columns:
//     head            state (timeline::State), and IntervalBits
//     length
//     tab, node       of those with kHasStack; nodes are numbered in preorder
//     waker           of those with kHasWaker: WakerCode
//     woken           of those with kHasWaker: the time from the wakeup to the end
//     short waits     of those with kHasShortWaits
//     timeouts        of those with kHasTimeouts: from the first wait that is one with it
//   samples           for each tab: a column with their number, by lane; then columns for all:
//     time            since the sample before in the lane
//     node
//     counts          0 and the number that all have; or 1 and a column
//     periods         the same; or 2 and a number by which all counts are multiplied
//   markers           their number, and columns: time since the one before; type (MarkerType);
//                     lane plus 1, 0 for none; text
//   windows           of a critical path: their name (a text; empty for whole lives), their
//                     number, how many follow, and columns: lane, time since the start of the
//                     one before, length
//
// page/time_data.js reads it.
#pragma once

#include <cstdint>

#include "convert/export/flame_graph/page_encoder.h"
#include "convert/export/flame_graph/time_lanes.h"

namespace perftape::flame_graph {

enum TimeBits : std::uint8_t { kHasIntervals = 1, kHasAllWaits = 2, kHasWakeups = 4 };

// Above the state, which has three bits.
enum IntervalBits : std::uint8_t {
  kHasStack = 8,
  kIsSample = 16,
  kHasWaker = 32,
  kHasShortWaits = 64,
  kHasTimeouts = 128,
};

// `lanes` is null for a page without times.
void AppendTime(const TimeLanes* lanes, TextColumn& texts, Encoder& out);

}  // namespace perftape::flame_graph
