// SPDX-License-Identifier: Apache-2.0
#include "tools/record/chain_ends.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace perftape::record_tool {

std::string ChainText(const record::RecordSummary& summary) {
  record::ChainEnds ends = {};
  std::uint64_t chains = 0;
  for (const record::EventSummary& event : summary.events) {
    for (std::size_t end = 0; end < ends.size(); ++end) {
      ends[end] += event.chain_ends[end];
      chains += event.chain_ends[end];
    }
  }
  if (chains == 0) return {};
  const std::uint64_t complete = ends[WIRE_END_OF_STACK];
  // Rounded down, so that 100 % means all.
  const double percent =
      std::floor(1000.0 * static_cast<double>(complete) / static_cast<double>(chains)) / 10;
  std::string text = fmt::format("user call chains: {:.1f} % complete", percent);
  const char* separator = "; incomplete: ";
  for (const ChainEnd& incomplete : kIncompleteEnds) {
    if (ends[incomplete.end] == 0) continue;
    text += fmt::format("{}{} {}", separator, ends[incomplete.end], incomplete.text);
    separator = ", ";
  }
  return text;
}

}  // namespace perftape::record_tool
