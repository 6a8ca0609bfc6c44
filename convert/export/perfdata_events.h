// SPDX-License-Identifier: Apache-2.0
// The events and features of a perf.data that is made from a profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/features.h"

namespace perftape::convert {

// Returns the events, with the same indexes as in the profile. A profile without events gets one
// event "dummy". The id of an event is its index + 1. All have the same `sample_type`.
std::vector<perfdata::Event> PerfDataEvents(const Profile& profile, std::uint64_t sample_type,
                                            bool times_made_up);

// Appends EVENT_UPDATE records for what an attribute cannot hold: units, and the scale of decimals.
Status AppendEventUpdates(const Profile& profile, std::vector<std::byte>& records);

// The times of the first and the last sample, as written in the records.
struct SampleTimes {
  std::uint64_t first_ns = 0, last_ns = 0;
  bool is_wall_clock = false;
};

// Returns the features that hold comments and times, in the form that ReadPerfData reads. Appends
// the names of metadata that no feature can hold to `lost`.
std::vector<perfdata::Feature> PerfDataFeatures(const Profile& profile, const SampleTimes& times,
                                                std::vector<std::string>& lost);

}  // namespace perftape::convert
