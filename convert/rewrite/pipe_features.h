// SPDX-License-Identifier: Apache-2.0
// Writes features as the records of a pipe: most as HEADER_FEATURE, two as records of their own
// type.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "convert/rewrite/new_features.h"
#include "formats/base/result.h"
#include "formats/perfdata/features.h"

namespace perftape::rewrite {

// Those that go as HEADER_FEATURE. Says in `outcomes` which of the others are left out: AUXTRACE
// holds offsets of a file, simpleperf's end perf's report, and what is larger than a record does
// not fit.
std::vector<perfdata::Feature> FeaturesOfPipe(std::span<const perfdata::Feature> features,
                                              std::vector<FeatureOutcome>& outcomes);

// TRACING_DATA and BUILD_ID as records: a TRACING_DATA record with the section behind it, padded to
// a multiple of 8, and a BUILD_ID record for each entry. kInvalidArgument for a path that is longer
// than a record can be.
Result<std::vector<std::byte>> RecordsOfFeatures(std::span<const perfdata::Feature> features);

}  // namespace perftape::rewrite
