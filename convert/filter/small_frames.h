// SPDX-License-Identifier: Apache-2.0
// --min-percent.
#pragma once

#include "convert/filter/filter.h"
#include "convert/model/profile.h"

namespace perftape::convert {

// Frames are one where they and all of their callers are called the same, whatever their addresses.
// One that holds less than `percent` of the period of each event is cut off, with all that it
// calls; what it holds is its caller's. A sample without a frame left is dropped, and moves in the
// report, which is of a profile of the same events or more, from kept to Filter::kMinPercent.
Profile CutSmallFrames(const Profile& profile, double percent, FilterReport& report);

}  // namespace perftape::convert
