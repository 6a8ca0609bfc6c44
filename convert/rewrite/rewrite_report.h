// SPDX-License-Identifier: Apache-2.0
// What a rewrite reports: the number of records of each type, and what happened to each feature.
#pragma once

#include <cstdint>
#include <map>
#include <numeric>
#include <string>

#include "formats/perfdata/abi.h"

namespace perftape::rewrite {

// The number of records of each type.
using RecordCounts = std::map<perfdata::RecordType, std::uint64_t>;

inline std::uint64_t TotalOf(const RecordCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

inline std::uint64_t CountOf(const RecordCounts& counts, perfdata::RecordType type) {
  const auto found = counts.find(type);
  return found == counts.end() ? 0 : found->second;
}

enum class FeatureFate : std::uint8_t {
  kKept,     // unchanged
  kMade,     // made because the recording had none, as for a pipe; nothing was lost
  kRebuilt,  // damaged or missing, but restored from the records
  kLeftOut,  // useless in the new file
  kDropped,  // lost
};

struct FeatureOutcome {
  perfdata::FeatureBit bit = {};
  FeatureFate fate = FeatureFate::kKept;
  std::string reason;  // empty for kKept
};

}  // namespace perftape::rewrite
