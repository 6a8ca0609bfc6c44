// SPDX-License-Identifier: Apache-2.0
// One line of folded stacks, in the format of flamegraph.pl:
//
//   main;parse;std::vector<int, std::allocator<int> >::push_back 42
//
// Frames are separated by ';', root first. The last space or tab separates the count
// (flamegraph.pl: `^(.*)\s+?(\d+(?:\.\d*)?)$`); everything before it belongs to the last frame. A
// differential file, as difffolded.pl writes it, has two counts after the stack. escape.h defines
// the escaping of names, and root.h the first frame.
#pragma once

#include <cstdint>
#include <string_view>

#include "formats/base/result.h"
#include "formats/folded/count.h"

namespace perftape::folded {

// The number of counts on each line. With kOne, the first of two counts is part of the last frame,
// because nothing proves that it is a count.
enum class Columns : std::uint8_t { kOne, kTwo };

struct Line {
  std::string_view stack;  // frames, separated by ';'; a view of the line
  Count before;            // the first of two counts
  Count count;             // the last or only count
};

// The mapping of frames without a mapped file, in formats that need one.
inline constexpr std::string_view kMappingName = "[folded]";
// The same for frames whose name ends in kKernelMark.
inline constexpr std::string_view kMarkedMappingName = "[kernel]";
inline constexpr std::string_view kKernelMark = "_[k]";

// Removes the next line from `text`, and sets `line` to it without spaces, tabs and the line end
// ("\n", "\r\n") at its end. For a comment, `line` is empty ("# interval: 100", which Austin writes
// and inferno skips). Returns false at the end of the text.
bool ReadLine(std::string_view& text, std::string_view& line);

// Parses a line from ReadLine. Returns kCorrupt if it does not end in the right number of counts,
// or if nothing precedes them, not even a space. " 12" is a stack of one frame without a name;
// "a;;b 1" has such a frame in the middle.
Result<Line> ParseLine(std::string_view line, Columns columns);

// Returns 5 for "WARNING: 5 stack traces lost and could not be displayed.", which bcc's profile and
// offcputime print after their lines; 0 for any other line.
std::uint64_t LostStacksIn(std::string_view line);

}  // namespace perftape::folded
