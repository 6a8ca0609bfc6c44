// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/filter_text.h"

#include <fmt/format.h>

#include <cmath>

#include "formats/base/counted.h"
#include "tools/common/profiles/filter_options.h"

namespace perftape::cli {
namespace {

std::string SamplesText(std::int64_t samples) {
  return Counted(static_cast<std::uint64_t>(samples), "sample");
}

// Returns the number of samples in `total`, or the sum of plain values.
std::string AmountText(const convert::EventTotals& event, const convert::Total& total) {
  if (event.values == convert::EventValues::kSampled) return fmt::format("{}", total.samples);
  const double scale = std::pow(10.0, event.decimals);
  return fmt::format("{:.{}f}", static_cast<double>(total.period) / scale, event.decimals);
}

}  // namespace

std::string AmountText(const convert::EventTotals& event) {
  const std::string amount = AmountText(event, event.kept);
  if (event.values == convert::EventValues::kPlain) return amount;
  return SamplesText(event.kept.samples);
}

std::vector<std::string> FilterLines(const Command& command, const convert::FilterReport& report) {
  std::vector<std::string> lines;
  for (const convert::EventTotals& event : report.events) {
    std::string dropped;
    for (std::size_t i = 0; i < convert::kFilters; ++i) {
      const convert::Total& total = event.dropped[i];
      if (total.samples == 0 && total.period == 0) continue;
      dropped += fmt::format("{}{} dropped by {}", dropped.empty() ? "" : ", ",
                             AmountText(event, total), OptionOf(command, convert::Filter(i)));
    }
    if (dropped.empty()) continue;
    lines.push_back(fmt::format("{}: kept {} of {}{}; {}", event.name,
                                AmountText(event, event.kept), AmountText(event, event.read),
                                event.values == convert::EventValues::kPlain ? "" : " samples",
                                dropped));
  }
  return lines;
}

}  // namespace perftape::cli
