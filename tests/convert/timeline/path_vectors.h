// SPDX-License-Identifier: Apache-2.0
// Recordings with the critical paths of some of their windows: path_vectors.json, which says what
// its fields mean. Both walks are checked with them: that of critical_path.cc, and that of a page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"
#include "convert/timeline/critical_path.h"
#include "convert/timeline/timeline.h"

namespace perftape::timeline {

// A window and its path.
struct VectorWalk {
  std::string thread;  // its comm
  Span time;
  std::vector<std::string> steps;  // TextsOf
  std::int64_t explained_ns = 0;
};

struct PathVector {
  std::string name;
  convert::Profile profile = {};
  TimelineOptions options = {};
  std::vector<VectorWalk> walks = {};
};

// Throws an exception if `json` is not as it should be.
std::vector<PathVector> ReadPathVectors(std::string_view json);

// Returns the thread of a timeline that has a comm; kNone if none has.
std::uint32_t ThreadNamed(const Timeline& timeline, std::string_view comm);

// Returns the texts of a path's steps: "30-100 main>worker running". In front of the thread are
// those that led to it: "a>b" if a waited for b, "a+b" if b started a. " 7 short" follows if 7 ns
// of it were short waits.
std::vector<std::string> TextsOf(const Timeline& timeline, const CriticalPath& path);

}  // namespace perftape::timeline
