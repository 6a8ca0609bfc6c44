// SPDX-License-Identifier: Apache-2.0
// Which SAMPLE records a profile's samples become, and in which order: by time, as far as labels
// tell it, then by thread, so that a thread's name is told once, then by event and stack.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "convert/export/rank.h"
#include "convert/model/profile.h"

namespace perftape::convert {

// Whose samples are: kNoThread (converted.h) where nothing is known. Where something is, a tid that
// is not is that of the process's first thread, and any other id that is not is -1, as in perf.
struct PlannedThread {
  std::uint32_t pid = 0, tid = 0;
  std::string_view comm = {};  // empty where unknown; lives as long as the profile
  auto operator<=>(const PlannedThread&) const = default;
};

struct PlannedSample {
  std::uint32_t sample = 0;   // index in the profile's
  std::uint32_t thread = 0;   // index in SamplePlan::threads
  std::uint64_t time_ns = 0;  // of its label; 0 where it has none
  std::uint64_t records = 0;  // that the sample becomes, with as much of the period each
};

struct SamplePlan {
  std::vector<PlannedThread> threads;
  std::vector<PlannedSample> samples;                 // those that become records
  std::uint64_t records = 0;                          // of all samples
  bool has_times = false;                             // some labels tell one
  std::uint64_t first_time_ns = 0, last_time_ns = 0;  // of those

  // What no record can hold, as samples of the profile.
  std::uint64_t negative = 0;   // left out
  std::uint64_t uncounted = 0;  // a period without a count: one record
  std::uint64_t joined = 0;     // counts that share a record with others
};

// `most_records` is aimed at, not kept exactly: each sample has one record at least. The ranks are
// the profile's.
SamplePlan PlanSamples(const Profile& profile, const Ranks& ranks, std::uint64_t most_records);

}  // namespace perftape::convert
