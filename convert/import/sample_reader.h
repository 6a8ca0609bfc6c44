// SPDX-License-Identifier: Apache-2.0
// The second pass over a recording. It reads the samples in file order, finds the epoch of each,
// and counts them in a SampleTable. Samples are sorted only if periods need it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "convert/import/first_pass.h"
#include "convert/import/import_options.h"
#include "convert/import/import_report.h"
#include "convert/import/sample_table.h"
#include "convert/unwind/packed_locations.h"
#include "formats/perfdata/reader.h"

namespace perftape::convert {

struct SampleSet {
  SampleTable table;               // after Finish
  TimeSpan times;                  // of the samples in it
  std::uint64_t time_step_ns = 0;  // of the times of labels; 0: they are exact
  // Of packed stacks in the table; null if no stacks were unwound.
  std::unique_ptr<offline_unwind::PackedLocations> locations = nullptr;
};

// Reads all samples. `report` counts those that are left out. The table has views of the first pass
// and of the reader's file, which must outlive it.
SampleSet ReadSamples(const perfdata::Reader& reader, const ImportOptions& options,
                      const FirstPass& first_pass, ImportReport& report);

// The same. Also appends the row of each SAMPLE record, in file order, to `rows_of_records`. A
// record that counts for several events has the row of its own event; a record in no row has
// kNoRow. Samples are always read in file order here, so with PERF_SAMPLE_READ the periods may
// differ.
constexpr std::uint32_t kNoRow = 0xffffffff;
SampleSet ReadSamplesByRecord(const perfdata::Reader& reader, const ImportOptions& options,
                              const FirstPass& first_pass, ImportReport& report,
                              std::vector<std::uint32_t>& rows_of_records);

}  // namespace perftape::convert
