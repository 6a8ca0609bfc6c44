// SPDX-License-Identifier: Apache-2.0
#include "tests/support/pprof_reader.h"

#include <string>
#include <utility>
#include <vector>

#include "formats/pprof/gzip.h"
#include "formats/pprof/layout.h"
#include "formats/protobuf/field_reader.h"
#include "tests/support/pprof_check.h"

namespace perftape::pprof {

Result<Profile> Decode(Bytes encoded) {
  Profile profile;
  TRY(protobuf::DecodeInto(encoded, profile));
  return profile;
}

Result<Profile> ReadProfile(Bytes file, const ReadLimits& limits) {
  std::vector<std::byte> decompressed;
  if (IsGzip(file)) {
    TRY_ASSIGN(decompressed, Gunzip(file, limits.max_size));
    file = decompressed;
  }
  if (file.size() > limits.max_size) {
    return Fail(ErrorCode::kCorrupt, "larger than " + std::to_string(limits.max_size) + " bytes");
  }
  TRY_ASSIGN(Profile profile, Decode(file));
  TRY(CheckValid(profile));
  return profile;
}

}  // namespace perftape::pprof
