// SPDX-License-Identifier: Apache-2.0
// The features of a rewritten file: those that can be decoded, and those rebuilt from records.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "convert/rewrite/recovered_layout.h"
#include "formats/perfdata/event_table.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/record.h"

namespace perftape::rewrite {

enum class FeatureFate : std::uint8_t {
  kKept,     // unchanged
  kMade,     // made from the records of a pipe; nothing was lost
  kRebuilt,  // damaged or missing, but restored from the records
  kLeftOut,  // useless in the new file
  kDropped,  // lost
};

struct FeatureOutcome {
  perfdata::FeatureBit bit = {};
  FeatureFate fate = FeatureFate::kKept;
  std::string reason;  // empty for kKept
};

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

}  // namespace perftape::rewrite
