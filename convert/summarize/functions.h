// SPDX-License-Identifier: Apache-2.0
// The functions of a profile with what was spent in each of them.
#pragma once

#include <vector>

#include "convert/frames/frame_table.h"
#include "convert/summarize/amount.h"

namespace perftape::summarize {

struct FunctionAmounts {
  convert::FrameId frame;
  Amount self;       // of samples whose innermost frame it is
  Amount inclusive;  // of samples that have it anywhere; counted once if it is recursive
};

// Returns all frames that have samples. The largest `self` is first, then the largest `inclusive`,
// then by name.
std::vector<FunctionAmounts> SumFunctions(const convert::Profile& profile,
                                          const convert::FrameTable& frames,
                                          const StackAmounts& amounts);

// Sorts by `inclusive` first.
void SortByInclusive(std::vector<FunctionAmounts>& functions);

}  // namespace perftape::summarize
