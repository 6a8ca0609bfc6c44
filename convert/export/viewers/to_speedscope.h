// SPDX-License-Identifier: Apache-2.0
// Profile -> the file format of speedscope, https://www.speedscope.app/file-format-schema.json.
// One profile for each event, of type "sampled".
#pragma once

#include "convert/export/to_folded.h"
#include "convert/export/viewers/view_report.h"
#include "convert/model/profile.h"
#include "formats/base/output_file.h"
#include "formats/base/result.h"

namespace perftape::viewers {

// Writes all events that have samples. Of `options`, uses `value` and `root`. Equal stacks become
// one sample. Fails as the output does.
Result<ViewReport> WriteSpeedscope(const convert::Profile& profile,
                                   const convert::FoldedOptions& options, OutputFile& out);

}  // namespace perftape::viewers
