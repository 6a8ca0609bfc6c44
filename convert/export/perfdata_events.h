// SPDX-License-Identifier: Apache-2.0
// The events and the facts about the recording in a perf.data that is made of a profile.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/model/profile.h"
#include "formats/base/result.h"
#include "formats/perfdata/attr.h"
#include "formats/perfdata/features.h"

namespace perftape::convert {

// Of the same index as the profile's; one that stands for none where there are none. Each has the
// id index + 1. `sample_type` is the same for all.
std::vector<perfdata::Event> PerfDataEvents(const Profile& profile, std::uint64_t sample_type,
                                            bool times_made_up);

// EVENT_UPDATE records for what an attribute does not say: units, and the scale of decimals.
Status AppendEventUpdates(const Profile& profile, std::vector<std::byte>& records);

// When the first and the last sample were, as the records say it.
struct SampleTimes {
  std::uint64_t first_ns = 0, last_ns = 0;
  bool is_wall_clock = false;
};

// What the comments and times tell, in the form in which ReadPerfData finds it. Puts the names of
// what it cannot hold into `lost`.
std::vector<perfdata::Feature> PerfDataFeatures(const Profile& profile, const SampleTimes& times,
                                                std::vector<std::string>& lost);

}  // namespace perftape::convert
