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
  // Of the decompressed file. The messages need up to 40 times as much memory, if a file consists
  // of empty ones.
  std::uint64_t max_size = std::uint64_t{1} << 30;
};

// Reads a whole file, gzip or not. Skips fields that profile.proto does not have, and accepts
// unpacked fields. kCorrupt if the gzip or the protobuf is damaged or truncated, if the file is
// larger than its limit, or if CheckValid fails.
Result<Profile> ReadProfile(Bytes file, const ReadLimits& limits = {});

// Reads the messages of an uncompressed file, valid or not.
Result<Profile> Decode(Bytes encoded);

}  // namespace perftape::pprof
