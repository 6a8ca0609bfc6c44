// SPDX-License-Identifier: Apache-2.0
// Which features a rewritten file gets: those that can be decoded, and those rebuilt from records.
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
  kKept,     // as it was
  kMade,     // told by the records of a pipe; nothing was lost
  kRebuilt,  // what was there was damaged or missing, and the records tell the same
  kLeftOut,  // of no use in the new file
  kDropped,  // lost
};

struct FeatureOutcome {
  perfdata::FeatureBit bit = {};
  FeatureFate fate = FeatureFate::kKept;
  std::string reason;  // empty for those that were kept
};

// What is collected from the records while they are copied.
struct Gathered {
  std::uint64_t first_sample_ns = 0, last_sample_ns = 0;  // 0 where no sample has a time
  std::vector<perfdata::BuildIdEntry> build_ids;          // of BUILD_ID records
  std::vector<perfdata::Section>
      traces;  // where AUXTRACE records begin in the new file, their sizes

  Bytes tracing_data;  // of the first TRACING_DATA record

  bool lost_records = false;
};

// Takes what a record tells: the time of a sample, a BUILD_ID, where `events` knows its shape.
void Gather(const perfdata::RecordView& record, const perfdata::EventTable& events,
            Gathered& gathered);

// Takes the formats of tracepoints from a TRACING_DATA record, the first of them; they stay views
// of it.
void GatherTracingData(const perfdata::RecordView& record, Gathered& gathered);

// Adds to `outcomes` the result for each feature that the file has, or has the bit of.
std::vector<perfdata::Feature> FeaturesFor(const RecoveredLayout& layout, const Gathered& gathered,
                                           std::vector<FeatureOutcome>& outcomes);

}  // namespace perftape::rewrite
