// SPDX-License-Identifier: Apache-2.0
// Which features a recovered file gets: those that read, and those that its records tell.
#pragma once

#include <cstdint>
#include <vector>

#include "convert/rewrite/outline.h"
#include "convert/rewrite/recover_report.h"
#include "formats/perfdata/features.h"

namespace perftape::rewrite {

// What the records tell, gathered while they are copied.
struct Gathered {
  std::uint64_t first_sample_ns = 0, last_sample_ns = 0;  // 0 where no sample has a time
  std::vector<perfdata::BuildIdEntry> build_ids;          // of BUILD_ID records
  std::vector<perfdata::Section>
      traces;  // where AUXTRACE records begin in the new file, their sizes

  Bytes tracing_data;  // of the first TRACING_DATA record

  bool lost_records = false;
};

// Says in `outcomes` what became of each feature that the file has, or has the bit of.
std::vector<perfdata::Feature> FeaturesFor(const Outline& outline, const Gathered& gathered,
                                           std::vector<FeatureOutcome>& outcomes);

}  // namespace perftape::rewrite
