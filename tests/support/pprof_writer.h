// SPDX-License-Identifier: Apache-2.0
// Encodes a whole profile.proto from the plain messages, valid or not. The tools write it message
// by message (formats/pprof/writer.h).
#pragma once

#include <string>

#include "formats/pprof/messages.h"

namespace perftape::pprof {

// Returns the uncompressed file. The string table is written unchanged.
std::string Encode(const Profile& profile);

}  // namespace perftape::pprof
