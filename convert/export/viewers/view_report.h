// SPDX-License-Identifier: Apache-2.0
// What an exported file cannot hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace perftape::viewers {

struct ViewReport {
  std::uint64_t negative_samples = 0;  // samples with a negative number, which are left out
  std::vector<std::string> rounded_events = {};  // whose numbers had decimals
};

}  // namespace perftape::viewers
