// SPDX-License-Identifier: Apache-2.0
// Visits the fields of a feature section, with the names of perf's struct perf_env and header.c.
#pragma once

#include <bit>

#include "formats/perfdata/features.h"
#include "formats/perfdata/field_visitor.h"

namespace perftape::perfdata {

// `order` is the byte order of the file. A feature that is a text or a list is visited as one
// unnamed field. So is an item of a list that has no fields.
void VisitFeatureFields(const FeatureValue& value, std::endian order, FieldVisitor& to);

}  // namespace perftape::perfdata
