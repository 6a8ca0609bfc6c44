// SPDX-License-Identifier: Apache-2.0
#include "tools/record/chain_ends.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace perftape::record_tool {

std::string ChainText(const record::RecordSummary& summary) {
  record::ChainEnds ends = {};
  std::uint64_t chains = 0, derived = 0;
  for (const record::EventLosses& event : summary.losses.events) {
    for (std::size_t end = 0; end < ends.size(); ++end) {
      ends[end] += event.chains.ends[end];
      chains += event.chains.ends[end];
    }
    derived += event.chains.derived;
  }
  if (chains == 0) return {};
  const auto per_mille = [chains](std::uint64_t part) {
    return 1000.0 * static_cast<double>(part) / static_cast<double>(chains);
  };
  // Rounded down, so that 100 % means all, and up, so that 0 % would mean none.
  std::string text = fmt::format("user call chains: {:.1f} % complete",
                                 std::floor(per_mille(ends[WIRE_END_OF_STACK])) / 10);
  if (derived > 0) {
    text +=
        fmt::format(", {:.1f} % through code without tables", std::ceil(per_mille(derived)) / 10);
  }
  const char* separator = "; incomplete: ";
  for (const ChainEnd& incomplete : kIncompleteEnds) {
    if (ends[incomplete.end] == 0) continue;
    text += fmt::format("{}{} {}", separator, ends[incomplete.end], incomplete.text);
    separator = ", ";
  }
  return text;
}

}  // namespace perftape::record_tool
