// SPDX-License-Identifier: Apache-2.0
// Checks the header of a file and the offsets of its sections. A pipe's stream has neither.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

void CheckHeader(const Reader& reader, Report& report);

}  // namespace perftape::perfdata
