// SPDX-License-Identifier: Apache-2.0
// The files of speedscope -> Profile.
//
//   events     of plain values, "samples" for counts, "time" in nanoseconds, "space" in bytes.
//   Files
//              of perftape have the event's name in each profile.
//   threads    of several profiles: the comm is the profile's name
//   evented    profiles count the time in which a stack is the current one
//   decimals   up to 6, if any weight without a unit has them
#pragma once

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

bool IsSpeedscopeFile(const Input& input);

// Fails if the text is not JSON, or if reading a stream fails. Samples with a frame that is not in
// the file are skipped and counted.
Result<Profile> ReadSpeedscope(Input& input, const ImportOptions& options, ImportReport& report);

}  // namespace perftape::convert
