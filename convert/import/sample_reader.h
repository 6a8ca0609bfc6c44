// SPDX-License-Identifier: Apache-2.0
// The second pass over a recording: its samples as they lie in the file, each in the state of its
// turn, into a table. No sample waits for another, and none is sorted.
#pragma once

#include <cstdint>
#include <vector>

#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/import/sample_table.h"
#include "convert/import/survey.h"
#include "formats/perfdata/reader.h"

namespace perftape::convert {

struct SampleSet {
  SampleTable table;  // complete and closed
  TimeSpan times;     // of the samples that are in it
};

// Reads all samples; what is left out is counted in `report`. The table has views into the survey,
// and into the file that the reader has open.
SampleSet ReadSamples(const perfdata::Reader& reader, const ImportOptions& options,
                      const Survey& survey, ImportReport& report);

// The same, and tells of each SAMPLE record, in the file's order, which row its sample is in: of
// several, that of the event that took it. kNoRow where it is in none. Counters that are read with
// the samples are taken as they lie in the file, so that periods may be others.
constexpr std::uint32_t kNoRow = 0xffffffff;
SampleSet ReadSamplesByRecord(const perfdata::Reader& reader, const ImportOptions& options,
                              const Survey& survey, ImportReport& report,
                              std::vector<std::uint32_t>& rows_of_records);

}  // namespace perftape::convert
