// SPDX-License-Identifier: Apache-2.0
// One line of folded stacks, as flamegraph.pl reads them:
//
//   main;parse;std::vector<int, std::allocator<int> >::push_back 42
//
// Frames are joined by ';', root first; the last space or tab splits off the count (flamegraph.pl:
// `^(.*)\s+?(\d+(?:\.\d*)?)$`), and what is before it belongs to the last frame. A differential
// file, as difffolded.pl makes, has two counts behind the stack. escape.h says how names stand in
// it that would be read as something else, root.h what the first frame may be, text.h in which
// encodings files come.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/base/result.h"
#include "formats/folded/count.h"

namespace perftape::folded {

// The counts on each line. One count is taken where two are, with the first as a part of the last
// frame; nothing tells for sure that it is none.
enum class Columns : std::uint8_t { kOne, kTwo };

struct Line {
  std::string_view stack;  // frames and ';' between them: views of the line
  Count before;            // where there are two: the first
  Count count;             // the last, or only one
};

// What stands for the mapped file of frames that have none, in formats that want one.
inline constexpr std::string_view kMappingName = "[folded]";
// The same of frames whose name ends in kKernelMark.
inline constexpr std::string_view kKernelMappingName = "[kernel]";
inline constexpr std::string_view kKernelMark = "_[k]";

// The next of `text`'s lines, which is taken off, without its line end ("\n", "\r\n") and spaces
// and tabs before it. Of a comment ("# interval: 100", as Austin writes them and inferno skips
// them) nothing is left. False at the end of the text.
bool ReadLine(std::string_view& text, std::string_view& line);

// A line as ReadLine gives it. kCorrupt where it does not end in as many counts as it should, or
// nothing, not even a space, is before them. " 12" is a stack of one frame that has no name, and
// "a;;b 1" has one in the middle.
Result<Line> ParseLine(std::string_view line, Columns columns);

}  // namespace perftape::folded
