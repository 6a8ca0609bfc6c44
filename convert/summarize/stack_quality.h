// SPDX-License-Identifier: Apache-2.0
// How much the stacks of a profile can be trusted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convert/frames/frame_table.h"
#include "convert/summarize/amount.h"

namespace perftape::summarize {

struct StackQuality {
  std::size_t distinct = 0;   // stacks that differ in the names of their frames
  double average_frames = 0;  // of a sample
  Amount without_frames;
  Amount with_one_frame;  // without those of sums (kShortWaits, kFastCalls), which have no stack
  // The outermost frame is user code, and no function is known there. The first frame of a complete
  // stack usually has a name, so a stack without one may be cut or wrong.
  Amount with_unnamed_root;
  // The part of these whose outermost frame is in a file without any known function. For them, the
  // missing name says nothing about the stack.
  Amount with_root_in_unnamed_file;
  Amount unnamed;  // the innermost frame has no name
};

StackQuality JudgeStacks(const convert::Profile& profile, const convert::FrameTable& frames,
                         const StackAmounts& amounts);

struct UnnamedBinary {
  convert::StringId filename = {};  // empty: in no mapping
  Amount amount = {};               // of samples whose innermost frame has no name
};

// Returns the binaries with unnamed innermost frames, the largest first.
std::vector<UnnamedBinary> SumUnnamed(const convert::Profile& profile,
                                      const convert::FrameTable& frames,
                                      const StackAmounts& amounts);

}  // namespace perftape::summarize
