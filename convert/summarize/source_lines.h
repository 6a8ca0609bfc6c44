// SPDX-License-Identifier: Apache-2.0
// The source lines of some functions with what was spent in each of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/frames/frame_table.h"
#include "convert/summarize/amount.h"

namespace perftape::summarize {

struct LineAmounts {
  std::string filename;     // of the source; empty if unknown
  std::int64_t number = 0;  // 0 if unknown
  convert::FrameId frame = {};
  Amount self = {}, inclusive = {};
};

// Returns the lines of the frames that are selected, by FrameId. The lines are sorted by function,
// file and number.
std::vector<LineAmounts> SumLines(const convert::Profile& profile,
                                  const convert::FrameTable& frames, const StackAmounts& amounts,
                                  const std::vector<bool>& selected);

}  // namespace perftape::summarize
