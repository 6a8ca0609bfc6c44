// SPDX-License-Identifier: Apache-2.0
// The features of a rewritten file: those that can be decoded, and those rebuilt from records. A
// pipe has them as records: most as HEADER_FEATURE, two as records of their own type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convert/rewrite/recovered_layout.h"
#include "convert/rewrite/rewrite_report.h"
#include "formats/base/result.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/record.h"

namespace perftape::rewrite {

// Collected from the records while they are copied.
struct Gathered {
  std::uint64_t first_sample_ns = 0, last_sample_ns = 0;  // 0 if no sample has a time
  std::vector<perfdata::BuildIdEntry> build_ids;          // from BUILD_ID records
  std::vector<perfdata::Section> traces;  // offsets in the new file and sizes of AUXTRACE records

  Bytes tracing_data;  // from the first TRACING_DATA record

  bool lost_records = false;
};

// Collects the time of a sample, and BUILD_ID entries. A sample needs its format in `events`.
void Gather(const perfdata::RecordView& record, const perfdata::EventTable& events,
            Gathered& gathered);

// Collects the formats of tracepoints from the first TRACING_DATA record, as views of it.
void GatherTracingData(const perfdata::RecordView& record, Gathered& gathered);

// Returns the features of the new file. Adds an outcome for each feature that the old file has, or
// has the bit of.
std::vector<perfdata::Feature> FeaturesFor(const RecoveredLayout& layout, const Gathered& gathered,
                                           std::vector<FeatureOutcome>& outcomes);

// Returns the features to write as HEADER_FEATURE. Adds the others to `outcomes`, with the reason.
// AUXTRACE contains offsets in a file, simpleperf's features end perf's report, and a section that
// exceeds a record's size does not fit.
std::vector<perfdata::Feature> FeaturesOfPipe(std::span<const perfdata::Feature> features,
                                              std::vector<FeatureOutcome>& outcomes);

// Returns the features TRACING_DATA and BUILD_ID as records. The first is a TRACING_DATA record
// followed by the section, padded to a multiple of 8. The second is a BUILD_ID record for each
// entry. Fails with kInvalidArgument for a path that is too long for a record.
Result<std::vector<std::byte>> RecordsOfFeatures(std::span<const perfdata::Feature> features);

}  // namespace perftape::rewrite
