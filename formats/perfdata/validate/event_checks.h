// SPDX-License-Identifier: Apache-2.0
// Checks the events: their attributes, their ids, and whether each record can be assigned to one.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

void CheckEvents(const Reader& reader, Report& report);

}  // namespace perftape::perfdata
