// SPDX-License-Identifier: Apache-2.0
// The filter --min-percent.
#pragma once

#include "convert/filter/filter.h"
#include "convert/model/profile.h"

namespace perftape::convert {

// Cuts off each frame with less than `percent` of the period of each event, together with its
// callees. Its samples are then the caller's. Frames are joined before if they and all their
// callers have equal names, whatever their addresses. A sample without frames left is dropped: in
// the report it moves from kept to Filter::kMinPercent. The report must be of a profile with at
// least these events.
Profile CutSmallFrames(const Profile& profile, double percent, FilterReport& report);

}  // namespace perftape::convert
