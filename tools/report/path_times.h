// SPDX-License-Identifier: Apache-2.0
// A time on a critical path: of the chosen windows, and of those that they are compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/common/profiles/time_view_options.h"
#include "tools/report/table.h"

namespace perftape::report_tool {

struct PathTimes {
  std::int64_t ns = 0;          // in all chosen windows
  std::int64_t against_ns = 0;  // in all windows of --against

  PathTimes& operator+=(const PathTimes& other) {
    ns += other.ns;
    against_ns += other.against_ns;
    return *this;
  }
  bool operator==(const PathTimes&) const = default;

  // Returns what rows are sorted by: the time, or with --against, by how much an average window has
  // more of it, in nanoseconds.
  double ValueIn(const cli::PathFacts& path) const;
};

// Returns the length of the windows.
PathTimes LengthOf(const cli::PathFacts& path);

// Returns the columns of such times: share and time, or with --against, the difference and the
// times of an average window of each side.
std::vector<Column> TimeColumns(const cli::PathFacts& path);
// Returns the cells of these columns.
std::vector<Cell> TimeCells(const PathTimes& times, const cli::PathFacts& path);

}  // namespace perftape::report_tool
