// SPDX-License-Identifier: Apache-2.0
// Writes features as records of a pipe: most as HEADER_FEATURE, two as records of their own type.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "convert/rewrite/new_features.h"
#include "formats/base/result.h"
#include "formats/perfdata/features.h"

namespace perftape::rewrite {

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
