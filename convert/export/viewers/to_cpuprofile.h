// SPDX-License-Identifier: Apache-2.0
// Profile -> the .cpuprofile format of V8, which VS Code and the Chrome DevTools open
// (formats/json_profiles/cpuprofile.h shows it). A file has one event. Each stack is one sample
// that lasts as long as the event's number says: nanoseconds become microseconds, and any other
// unit is written as if it were microseconds. The url of a function is its source file, or its
// binary.
#pragma once

#include "convert/export/to_folded.h"
#include "convert/export/viewers/view_report.h"
#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"

namespace perftape::viewers {

// Writes options.event, or the first event with samples. Equal profiles become equal files.
Result<ViewReport> WriteCpuProfile(const convert::Profile& profile,
                                   const convert::FoldedOptions& options, OutputFile& file);

}  // namespace perftape::viewers
