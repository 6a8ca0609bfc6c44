// SPDX-License-Identifier: Apache-2.0
// Judges what stands before the records of a file: the header and where its sections lie. A pipe's
// stream has nothing of it.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

void CheckHeader(const Reader& reader, Report& report);

}  // namespace perftape::perfdata
