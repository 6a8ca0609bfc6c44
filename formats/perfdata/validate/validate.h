// SPDX-License-Identifier: Apache-2.0
// Checks whether perf, in several versions, and other programs can read a perf.data:
//
//   TRY_ASSIGN(const Reader reader, Reader::Open(input));
//   const Report report = Validate(reader);
//   if (report.is_clean()) ...
//
// rules.h lists the rules. Each *_checks.h has the checks of one area.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

// Reads all records twice, in file order and in time order. `reader` must not be a stream
// (is_stream). For a stream, call Input::All first.
Report Validate(const Reader& reader);

}  // namespace perftape::perfdata
