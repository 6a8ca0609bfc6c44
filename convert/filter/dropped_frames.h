// SPDX-License-Identifier: Apache-2.0
// The frames that a profile asks viewers to leave out: drop_frames and keep_frames of a pprof.
// Without these hints, the innermost functions of each heap sample would be those of the allocator.
#pragma once

#include "convert/model/profile.h"
#include "formats/base/result.h"

namespace perftape::convert {

// Returns the profile without these frames, and without these hints, as pprof shows it
// (Profile.RemoveUninteresting). In each stack, the outermost function whose whole name matches
// drop_frames, but not keep_frames, is left out together with everything it called, unless no other
// function called it. Returns the profile itself if it has no hints. Fails with kInvalidArgument if
// a hint is not a regular expression.
Result<Profile> WithoutDroppedFrames(const Profile& profile);

}  // namespace perftape::convert
