// SPDX-License-Identifier: Apache-2.0
// What a file was found guilty of, as text.
#pragma once

#include <string>

#include "formats/perfdata/validate/report.h"

namespace perftape::inspect {

// "0x1a8 error record-size-alignment: MMAP of 57 bytes; breaks perf-newest\n", one line for each
// finding that was kept, in file order. Control characters in names are escaped.
std::string FindingsText(const perfdata::Report& report);

// How many findings each rule has and what it means, and who does not read the file.
std::string VerdictText(const perfdata::Report& report);

}  // namespace perftape::inspect
