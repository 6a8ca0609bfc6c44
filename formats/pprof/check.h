// SPDX-License-Identifier: Apache-2.0
// The rules that a valid pprof profile follows, beyond its protobuf encoding.
#pragma once

#include "formats/base/result.h"
#include "formats/pprof/messages.h"

namespace perftape::pprof {

// Checks the rules of CheckValid in google/pprof's profile/profile.go, and those of its decoder for
// the string table. Returns kCorrupt with the entry and the rule:
//
//   the string table begins with ""; every string index is inside it
//   each sample has one value for each sample type; there are types if there are samples
//   ids of mappings, locations and functions are not 0, and unique
//   references are valid; only a location's mapping may be 0, "none"
Status CheckValid(const Profile& profile);

}  // namespace perftape::pprof
