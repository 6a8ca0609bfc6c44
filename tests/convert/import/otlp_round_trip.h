// SPDX-License-Identifier: Apache-2.0
// Writes profiles as OTLP and reads them again.
#pragma once

#include <string>
#include <vector>

#include "convert/export/to_otlp.h"
#include "convert/export/to_pprof.h"
#include "convert/import/from_otlp.h"
#include "tests/support/bytes_input.h"

namespace perftape::convert {

inline Result<Profile> ReadOtlpBytes(Bytes file, ImportReport& report,
                                     const ImportOptions& options = {}) {
  BytesInput input(file);
  return ReadOtlp(input, options, report);
}

inline Result<Profile> ReadOtlpBytes(std::string_view file) {
  ImportReport report;
  return ReadOtlpBytes(AsBytes(file), report);
}

// A pprof has all of a profile but its types of mappings, and equal profiles become equal files.
inline std::vector<std::byte> AsPprof(const Profile& profile) {
  return EncodePprof(profile, {.compression = PprofCompression::kNone}).value();
}

}  // namespace perftape::convert
