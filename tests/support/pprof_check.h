// SPDX-License-Identifier: Apache-2.0
// Checks the rules of a valid pprof profile, beyond its protobuf encoding.
#pragma once

#include "formats/base/result.h"
#include "formats/pprof/messages.h"

namespace perftape::pprof {

// Checks the rules of CheckValid in google/pprof's profile/profile.go, and those of its decoder for
// the string table. kCorrupt with the table, the index and the violated rule:
//
//   the string table begins with ""; every index of a text is in it
//   each sample has one value for each sample type; without types there are no samples
//   ids of mappings, locations and functions are not 0 and are unique
//   every referenced id exists; only a location's mapping may be 0, "none"
Status CheckValid(const Profile& profile);

}  // namespace perftape::pprof
