// SPDX-License-Identifier: Apache-2.0
// The page of the path /: what is recorded, and links to it. It has no script, and asks for
// nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/serve/history.h"

namespace perftape::serve {

struct IndexFacts {
  std::string problem = {};              // why the service is not ready; empty: it is
  std::vector<std::string> events = {};  // the names for -e of what is recorded
  // Nanoseconds of CLOCK_MONOTONIC; nothing while nothing is recorded.
  std::optional<std::uint64_t> recorded_since_ns = {};
  std::uint64_t now_ns = 0;
  HistoryCounts history = {};
  std::chrono::nanoseconds history_span{};
};

// Returns HTML. Texts of `facts` are escaped.
std::string IndexPage(const IndexFacts& facts);

}  // namespace perftape::serve
