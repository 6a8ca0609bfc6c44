// SPDX-License-Identifier: Apache-2.0
#include "formats/perfdata/feature_fields.h"

#include "formats/perfdata/feature_layout.h"
#include "formats/perfdata/field_cursor.h"

namespace perftape::perfdata {

void VisitFeatureFields(const FeatureValue& value, std::endian order, FieldVisitor& to) {
  std::visit(
      [&](const auto& feature) {
        FieldCursor at(to, order);
        AnyFeatureLayout(at, feature, 0);
      },
      value);
}

}  // namespace perftape::perfdata
