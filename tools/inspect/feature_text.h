// SPDX-License-Identifier: Apache-2.0
// A feature of a perf.data's header in the words of `perf report --header-only -I`.
#pragma once

#include <string>

#include "formats/perfdata/features.h"
#include "formats/perfdata/reader.h"

namespace perftape::inspect {

// How `value`, the feature `bit` of the file that `reader` has open, reads behind its name and a
// colon: the rest of that line, and a line, indented, for each part where it has several.
std::string FeatureText(const perfdata::FeatureValue& value, perfdata::FeatureBit bit,
                        const perfdata::Reader& reader);

}  // namespace perftape::inspect
