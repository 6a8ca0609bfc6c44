// SPDX-License-Identifier: Apache-2.0
// Reads a whole profile.proto into the plain messages. The tools read it message by message
// (formats/pprof/message_cursor.h).
#pragma once

#include <cstdint>

#include "formats/base/bytes.h"
#include "formats/base/result.h"
#include "formats/pprof/messages.h"

namespace perftape::pprof {

struct ReadLimits {
  // Of the file when decompressed. The messages take up to some 40 times that in memory, where a
  // file consists of nothing but empty ones.
  std::uint64_t max_size = std::uint64_t{1} << 30;
};

// A whole file, gzip or not, and only if it is valid (CheckValid). Fields that profile.proto does
// not have are passed over, packed fields are taken unpacked too. kCorrupt where the gzip or the
// protobuf is damaged or cut, is too large, or is not valid.
Result<Profile> ReadProfile(Bytes file, const ReadLimits& limits = {});

// The messages of an uncompressed one, valid or not.
Result<Profile> Decode(Bytes encoded);

}  // namespace perftape::pprof
