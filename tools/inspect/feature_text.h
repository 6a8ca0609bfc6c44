// SPDX-License-Identifier: Apache-2.0
// A feature of a perf.data's header as text, as in `perf report --header-only -I`.
#pragma once

#include <string>

#include "formats/perfdata/features.h"
#include "formats/perfdata/reader.h"

namespace perftape::inspect {

// `value` is the feature `bit` of the file that `reader` has open. Returns the text after the
// feature's name and a colon: the rest of that line, and an indented line for each part if there
// are several.
std::string FeatureText(const perfdata::FeatureValue& value, perfdata::FeatureBit bit,
                        const perfdata::Reader& reader);

}  // namespace perftape::inspect
