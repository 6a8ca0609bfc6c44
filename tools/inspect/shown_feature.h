// SPDX-License-Identifier: Apache-2.0
// A feature of a perf.data's header, as text and as JSON.
#pragma once

#include <string>

#include "formats/json/value.h"
#include "formats/perfdata/features.h"
#include "formats/perfdata/reader.h"

namespace perftape::inspect {

struct ShownFeature {
  // As in `perf report --header-only -I`. What follows the feature's name and a colon: the rest of
  // that line, and an indented line for each part if there are several.
  std::string text;
  // A text, number, list or object, depending on the feature. Bytes of unknown meaning are
  // represented by their size.
  json::Value json;
};

// `value` is the feature `bit` of the file that `reader` has open. The JSON has the fields that the
// feature's layout describes (formats/perfdata/feature_layout.h).
ShownFeature ShowFeature(const perfdata::FeatureValue& value, perfdata::FeatureBit bit,
                         const perfdata::Reader& reader);

}  // namespace perftape::inspect
