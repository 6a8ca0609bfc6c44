// SPDX-License-Identifier: Apache-2.0
// The rules that a valid pprof profile follows, beyond its protobuf encoding.
#pragma once

#include "formats/base/result.h"
#include "formats/pprof/messages.h"

namespace perftape::pprof {

// As CheckValid in google/pprof's profile/profile.go, and what its decoder checks of the string
// table. kCorrupt, naming what is wrong with which entry:
//
//   the string table begins with ""; every index of a text lies in it
//   each sample has one value for each sample type; there are types where there are samples
//   ids of mappings, locations and functions are not 0, and each is used once
//   what is referred to is there; only a location's mapping may be 0, "none"
Status CheckValid(const Profile& profile);

}  // namespace perftape::pprof
