// SPDX-License-Identifier: Apache-2.0
// Judges the features: of a file, those that its bitmap tells of and its table leads to; of a
// pipe's stream, those that came as records.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

void CheckFeatures(const Reader& reader, Report& report);

}  // namespace perftape::perfdata
