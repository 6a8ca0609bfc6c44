// SPDX-License-Identifier: Apache-2.0
// Why the windows of a critical path took their time, as a tree: what their threads did, for whom
// they waited, and below that, what those did meanwhile.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "convert/timeline/critical_path.h"
#include "formats/json/value.h"
#include "tools/common/profiles/time_view_options.h"
#include "tools/report/path_names.h"
#include "tools/report/path_times.h"
#include "tools/report/table.h"

namespace perftape::report_tool {

struct PathReason {
  std::string waker = {};  // the name of the thread that was waited for; else empty
  bool is_birth = false;   // it started the thread that is in the path
  timeline::Reason reason = timeline::Reason::kNotRecorded;  // without a waker
  // Where the thread waited, or the function in which it ran for more than half of the time;
  // empty if there is none.
  std::string functions = {};
  PathTimes times = {};
  std::vector<PathReason> children = {};  // of a waker
};

// Returns the reasons of the windows' own threads, those with the largest PathTimes::ValueIn first.
// Their sum is the length of the windows.
std::vector<PathReason> ReasonsOf(const cli::PathFacts& path, const PathNames& names);

// With the lines above and the longest rows below, they fit on a screen.
inline constexpr std::size_t kMostReasons = 12;

// A reason in a list, below those that it is a part of.
struct ListedReason {
  std::size_t depth = 0;
  std::string text = {};  // "waits for worker in handle;wait_for_worker"
  PathTimes times = {};
};

// Returns the reasons with the largest values, at most `most` without those that they are below,
// and without those below `percent_limit`.
std::vector<ListedReason> LargestReasons(const std::vector<PathReason>& reasons,
                                         const cli::PathFacts& path, std::size_t most,
                                         double percent_limit);

// Returns the same as a table.
Table ReasonTable(const std::vector<PathReason>& reasons, const cli::PathFacts& path,
                  std::size_t most, double percent_limit);

json::Value ReasonJson(const std::vector<PathReason>& reasons, const cli::PathFacts& path);

}  // namespace perftape::report_tool
