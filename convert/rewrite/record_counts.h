// SPDX-License-Identifier: Apache-2.0
// The number of records of each type.
#pragma once

#include <cstdint>
#include <map>
#include <numeric>

#include "formats/perfdata/abi.h"

namespace perftape::rewrite {

using RecordCounts = std::map<perfdata::RecordType, std::uint64_t>;

inline std::uint64_t TotalOf(const RecordCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

inline std::uint64_t CountOf(const RecordCounts& counts, perfdata::RecordType type) {
  const auto found = counts.find(type);
  return found == counts.end() ? 0 : found->second;
}

}  // namespace perftape::rewrite
