// SPDX-License-Identifier: Apache-2.0
// The texts of the progress line.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "formats/base/progress.h"

namespace perftape::cli {

// Returns "950 B", "1.5 MiB".
std::string ShortBytes(std::uint64_t bytes);
// Returns "950", "1.5k", "12M".
std::string ShortCount(std::uint64_t count);
// Returns "7 s", "2:05 min", "1:02:05 h".
std::string ShortTime(std::chrono::seconds time);

// Returns "tool: part, part" with as many parts as fit into a line of `columns`. The last column
// stays empty, because some terminals begin a new line after it.
std::string FitParts(std::string_view tool, std::span<const std::string> parts,
                     std::size_t columns);

// Returns "tool: 45% of 1.2 GiB, 3.4M samples, 120 MiB/s, 7 s left" after `elapsed` of work. The
// time left is shown if all inputs are known.
std::string ReadingText(std::string_view tool, const ProgressCounts& counts,
                        std::chrono::milliseconds elapsed, std::size_t columns);

}  // namespace perftape::cli
