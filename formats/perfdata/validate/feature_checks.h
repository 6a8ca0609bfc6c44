// SPDX-License-Identifier: Apache-2.0
// Checks the features: in a file those of the bitmap and its table, in a pipe's stream those that
// came as records.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

void CheckFeatures(const Reader& reader, Report& report);

}  // namespace perftape::perfdata
