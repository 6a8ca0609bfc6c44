// SPDX-License-Identifier: Apache-2.0
// The statistics of a recording, counted by several threads at once. Samples are counted as they
// lie in the file, each in the state of its time, and what they hit is looked up once for each
// page.
#pragma once

#include <optional>

#include "formats/perfdata/reader.h"
#include "tools/inspect/statistics.h"

namespace perftape::inspect {

// The same as CountRecords finds in time order. Nothing where the records have to be read in their
// order: of a short recording, of one that is no uncompressed file, has damage, or counters that
// are read with the samples.
std::optional<Statistics> CountInRanges(const perfdata::Reader& reader, unsigned threads);

}  // namespace perftape::inspect
