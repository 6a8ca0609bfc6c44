// SPDX-License-Identifier: Apache-2.0
// Judges the events: their attributes, their ids, and whether a record can be told to be of one of
// them.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

void CheckEvents(const Reader& reader, Report& report);

}  // namespace perftape::perfdata
