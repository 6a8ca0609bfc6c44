// SPDX-License-Identifier: Apache-2.0
// A feature of a perf.data's header as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "formats/perfdata/features.h"
#include "formats/perfdata/reader.h"

namespace perftape::inspect {

// `value` is the feature `bit` of the file that `reader` has open. Returns a text, number, list or
// object, depending on the feature. Bytes of unknown meaning are represented by their size.
nlohmann::ordered_json FeatureJson(const perfdata::FeatureValue& value, perfdata::FeatureBit bit,
                                   const perfdata::Reader& reader);

}  // namespace perftape::inspect
