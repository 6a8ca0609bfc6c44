// SPDX-License-Identifier: Apache-2.0
// Encodes a whole profile.proto from the plain messages, right or wrong. The tools write it message
// by message (formats/pprof/writer.h).
#pragma once

#include <string>

#include "formats/pprof/messages.h"

namespace perftape::pprof {

// The uncompressed file. The string table is written as it is.
std::string Encode(const Profile& profile);

}  // namespace perftape::pprof
