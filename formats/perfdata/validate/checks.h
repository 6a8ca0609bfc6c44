// SPDX-License-Identifier: Apache-2.0
// The checks of a file that need no walk over its records.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

// Checks the header of a file and the offsets of its sections. A pipe's stream has neither.
void CheckHeader(const Reader& reader, Report& report);

// Checks the attributes and the ids of the events, and whether these assign each record to an
// event.
void CheckEvents(const Reader& reader, Report& report);

// Checks the features: those of the bitmap and its table in a file, those of the FEATURE records in
// a pipe's stream.
void CheckFeatures(const Reader& reader, Report& report);

}  // namespace perftape::perfdata
