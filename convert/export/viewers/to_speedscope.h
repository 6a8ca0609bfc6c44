// SPDX-License-Identifier: Apache-2.0
// Profile -> the file format of speedscope, https://www.speedscope.app/file-format-schema.json.
// Its profiles have the type "sampled". speedscope opens a file in the order of time, so a profile
// with the times of its samples becomes a profile for each event and thread, with each sample. Of
// another one, each event becomes a profile, in which equal stacks are one sample.
#pragma once

#include "convert/export/to_folded.h"
#include "convert/export/viewers/view_report.h"
#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"

namespace perftape::viewers {

// Writes all events that have samples. Of `options`, uses `value`, and `root` if there are no
// times. Fails as the output does.
Result<ViewReport> WriteSpeedscope(const convert::Profile& profile,
                                   const convert::FoldedOptions& options, OutputFile& out);

}  // namespace perftape::viewers
