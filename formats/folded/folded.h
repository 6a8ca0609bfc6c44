// SPDX-License-Identifier: Apache-2.0
// One line of folded stacks, as flamegraph.pl reads them:
//
//   main;parse;std::vector<int, std::allocator<int> >::push_back 42
//
// Frames are joined by ';', root first; the last run of spaces splits off the count. The format has
// no escaping, so the writer changes what would be read as something else:
//
//   ';'                              becomes ':'
//   line ends (LF, CR) and NUL       become a space
//   spaces at the end of a frame     are dropped
//   a frame ending in space + digits gets '_' behind it: "id 7" could be two counts
//   a frame of nothing               becomes "[unknown]"
//
// Spaces inside a frame stay. Writing what was read changes nothing more.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/base/result.h"

namespace perftape::folded {

// Appends one frame, changed as told above; the ';' between frames is the caller's.
void AppendFrame(std::string& out, std::string_view frame);

// Appends "frame;frame COUNT\n". `frames` are root first; none at all is written as "[unknown]".
void AppendLine(std::string& out, std::span<const std::string_view> frames, std::uint64_t count);

struct StackLine {
  std::vector<std::string_view> frames;  // root first; views of the parsed line
  std::uint64_t count = 0;
  bool had_fraction = false;  // "12.7" was read as 12
};

// One line, with or without its line end ("\n" or "\r\n"). kCorrupt where it does not end in a
// space and a count, the count is above 2^64 - 1, or there is no frame before it. Frames may be
// empty
// ("a;;b"). Where a line ends in two counts (difffolded.pl's) the first is part of the last frame.
Result<StackLine> ParseFoldedLine(std::string_view line);

}  // namespace perftape::folded
