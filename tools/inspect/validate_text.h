// SPDX-License-Identifier: Apache-2.0
// The findings of a validation as text.
#pragma once

#include <string>

#include "formats/perfdata/validate/report.h"

namespace perftape::inspect {

// Returns "0x1a8 error record-size-alignment: MMAP has 57 bytes, not a multiple of 8; breaks
// perf-7.3\n", one line for each listed finding, in file order. Control characters in names are
// escaped.
std::string FindingsText(const perfdata::Report& report);

// Returns the number of findings of each rule with the rule's meaning, and the readers that cannot
// read the file.
std::string VerdictText(const perfdata::Report& report);

}  // namespace perftape::inspect
