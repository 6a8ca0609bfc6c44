// SPDX-License-Identifier: Apache-2.0
// The latency of functions: the time that passed while they ran, divided among the threads that ran
// at the same time (timeline/parallelism.h).
#pragma once

#include <vector>

#include "convert/frames/frame_table.h"
#include "convert/model/profile.h"
#include "convert/summarize/amount.h"
#include "convert/summarize/breakdowns.h"

namespace perftape::summarize {

struct LatencyAmount {
  Amount latency;
  double parallelism = 0;  // on average over the samples; 0 without samples
};

struct FunctionLatency {
  LatencyAmount self, inclusive;
  const LatencyAmount& By(SortBy sort) const { return sort == SortBy::kTotal ? inclusive : self; }
};

struct Latency {
  LatencyAmount total;
  std::vector<FunctionLatency> functions;  // in the order of the functions that were passed
};

// Returns the latency of an event's samples, which have the label kParallelismLabel, and of
// `functions`, which SumFunctions returned for the event. Sorts these: the largest latency first.
Latency SumLatency(const convert::Profile& profile, const convert::FrameTable& frames,
                   convert::EventId event, SortBy sort, std::vector<FunctionAmounts>& functions);

}  // namespace perftape::summarize
