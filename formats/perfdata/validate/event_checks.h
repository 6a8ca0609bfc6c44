// SPDX-License-Identifier: Apache-2.0
// Checks the attributes and the ids of the events, and whether these assign each record to an
// event.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

void CheckEvents(const Reader& reader, Report& report);

}  // namespace perftape::perfdata
