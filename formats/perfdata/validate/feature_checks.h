// SPDX-License-Identifier: Apache-2.0
// Checks the features: those of the bitmap and its table in a file, those of the FEATURE records in
// a pipe's stream.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

void CheckFeatures(const Reader& reader, Report& report);

}  // namespace perftape::perfdata
