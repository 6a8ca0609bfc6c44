// SPDX-License-Identifier: Apache-2.0
// Counts the statistics of a recording on several threads. Samples are counted in file order, each
// with the state of its time. The dso that they hit is looked up once per page.
#pragma once

#include <optional>

#include "formats/perfdata/reader.h"
#include "tools/inspect/statistics.h"

namespace perftape::inspect {

// Returns the same result as CountRecords in time order. Returns nothing if the records must be
// read in order. That is so if the recording is short, damaged or not an uncompressed file, or if
// counters are read with the samples (PERF_SAMPLE_READ).
std::optional<Statistics> CountInRanges(const perfdata::Reader& reader, unsigned threads);

}  // namespace perftape::inspect
