// SPDX-License-Identifier: Apache-2.0
// Labels that have another name as attributes of an OTLP resource.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

#include "convert/model/label_keys.h"
#include "formats/otlp/conventions.h"

namespace perftape::convert {

struct OtlpLabel {
  std::string_view label, attribute;
};

inline constexpr OtlpLabel kOtlpLabels[] = {
    {kCgroupLabel, otlp::kCgroupPath},
    {kPodNamespaceLabel, otlp::kPodNamespace},
    {kPodLabel, otlp::kPodName},
    {kContainerLabel, otlp::kContainerName},
};

// The row of a label, or of an attribute; null if there is none.
inline const OtlpLabel* FindOtlpLabel(std::string_view label) {
  const auto* const found = std::ranges::find(kOtlpLabels, label, &OtlpLabel::label);
  return found == std::end(kOtlpLabels) ? nullptr : found;
}
inline const OtlpLabel* FindOtlpAttribute(std::string_view attribute) {
  const auto* const found = std::ranges::find(kOtlpLabels, attribute, &OtlpLabel::attribute);
  return found == std::end(kOtlpLabels) ? nullptr : found;
}

}  // namespace perftape::convert
