// SPDX-License-Identifier: Apache-2.0
// The .cpuprofile files of V8 -> Profile. The event "cpu" counts the samples; their period is the
// time until the next one, in nanoseconds. The nodes (program), (idle) and (garbage collector) are
// functions; (root) is left out.
#pragma once

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/model/profile.h"
#include "formats/base/input.h"
#include "formats/base/result.h"

namespace perftape::convert {

bool IsCpuProfileFile(const Input& input);

// Fails if the text is not JSON, or if reading a stream fails. Samples of unknown nodes are skipped
// and counted.
Result<Profile> ReadCpuProfile(Input& input, const ImportOptions& options, ImportReport& report);

}  // namespace perftape::convert
