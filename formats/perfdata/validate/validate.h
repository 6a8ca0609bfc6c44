// SPDX-License-Identifier: Apache-2.0
// Judges a perf.data by the rules of those who read it, perf of several ages among them:
//
//   TRY_ASSIGN(const Reader reader, Reader::Open(input));
//   const Report report = Validate(reader);
//   if (report.is_clean()) ...
//
// The rules are in rules.h, one row each; the checks are classes by area, fed with each record.
#pragma once

#include "formats/perfdata/reader.h"
#include "formats/perfdata/validate/report.h"

namespace perftape::perfdata {

// Reads all records twice, in file order and in time order. `reader` must not be of a stream that
// still comes (is_stream): its Input is made whole first, by Input::All.
Report Validate(const Reader& reader);

}  // namespace perftape::perfdata
