// SPDX-License-Identifier: Apache-2.0
// Decides which SAMPLE records are written for a profile's samples, and in which order; also for
// samples in the text of perf script. Records are sorted by time if labels contain one, then by
// thread, then by event and stack. So each thread's name is written once.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "convert/export/rank.h"
#include "convert/model/profile.h"

namespace perftape::convert {

// The thread of a sample. It is kNoThread (converted.h) if neither pid, tid nor comm is known.
// Otherwise an unknown tid is replaced by the pid, that is, by the process's first thread. Any
// other unknown id is -1, as in perf.
struct PlannedThread {
  std::uint32_t pid = 0, tid = 0;
  std::string_view comm = {};  // empty if unknown; valid as long as the profile
  auto operator<=>(const PlannedThread&) const = default;
};

struct PlannedSample {
  std::uint32_t sample = 0;   // index in the profile's samples
  std::uint32_t thread = 0;   // index in SamplePlan::threads
  std::uint64_t time_ns = 0;  // from its label; 0 if it has none
  std::uint64_t records = 0;  // number of records for this sample; its period is divided among them
};

struct SamplePlan {
  std::vector<PlannedThread> threads;
  std::vector<PlannedSample> samples;                 // the samples that become records
  std::uint64_t records = 0;                          // number of records of all samples
  bool has_times = false;                             // at least one sample has a time label
  std::uint64_t first_time_ns = 0, last_time_ns = 0;  // from these labels

  // What records cannot express, counted in samples of the profile.
  std::uint64_t negative = 0;   // left out: count or period below 0
  std::uint64_t uncounted = 0;  // a period without a count: one record
  std::uint64_t joined = 0;     // counts that share a record with others
};

// `most_records` is a target, not a limit: each sample has at least one record. `ranks` are the
// ranks of `profile`. Plans the samples of one event if it is given.
SamplePlan PlanSamples(const Profile& profile, const Ranks& ranks, std::uint64_t most_records,
                       std::optional<EventId> event = {});

}  // namespace perftape::convert
