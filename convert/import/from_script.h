// SPDX-License-Identifier: Apache-2.0
// The text of perf script -> Profile. formats/script reads the text.
//
//   events      by name, each sampled. The unit of the clocks and of the time off CPU is known.
//   samples     count as one each, with their period, or 1 without one
//   frames      user frames are offsets in their file, as perf 6.1 prints them;
//               frames of the kernel and frames without a file are addresses. 1 is subtracted from
//               return addresses.
//   functions   the names as they are printed, without their offset
//   inlined     calls are lines of one location, with the function that contains them
//   time, CPU   become labels on request (ImportOptions)
//
// The comments at the start become comments of the profile. A text of perftape becomes the profile
// that it was made from, apart from the losses that to_script.h names.
#pragma once

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

// Returns whether the input looks like the text of perf script.
bool IsScript(const Input& input);

// Reads a stream without keeping its text, unless options ask for times relative to the first or
// last sample. Lines that are not understood are skipped, and counted in report.problems with the
// number of the first one. Fails if reading the stream fails.
Result<Profile> ReadScript(Input& input, const ImportOptions& options, ImportReport& report);

}  // namespace perftape::convert
