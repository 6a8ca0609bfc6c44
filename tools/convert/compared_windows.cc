// SPDX-License-Identifier: Apache-2.0
#include "tools/convert/compared_windows.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "convert/timeline/windows.h"
#include "formats/perfdata/period_unit.h"
#include "tools/report/path_names.h"
#include "tools/report/path_reasons.h"
#include "tools/report/path_times.h"
#include "tools/report/table.h"

namespace perftape::convert_tool {
namespace {

// Reasons below this part of the difference are left out.
constexpr double kLeastPercent = 0.5;

std::int64_t Average(std::int64_t ns, std::size_t windows) {
  return ns / static_cast<std::int64_t>(std::max<std::size_t>(windows, 1));
}

std::string DurationText(std::int64_t ns) {
  return report_tool::CellText(
      report_tool::Quantity{.value = static_cast<double>(ns), .unit = perfdata::kNanoseconds});
}

std::string RangeText(const timeline::Percentiles& range) {
  return fmt::format("p{:g}..p{:g}", range.from, range.to);
}

std::string ChosenText(std::size_t count, const timeline::WindowChoice& choice) {
  if (choice.percentiles) return fmt::format("{} ({})", count, RangeText(*choice.percentiles));
  return fmt::format("{} slowest", count);
}

std::string AgainstText(std::size_t count, const timeline::Percentiles& range) {
  const bool is_typical =
      range.from == cli::kTypicalWindows.from && range.to == cli::kTypicalWindows.to;
  return is_typical ? fmt::format("{} typical windows", count)
                    : fmt::format("{} windows ({})", count, RangeText(range));
}

}  // namespace

flame_graph::ComparedWindows ComparedWindowsOf(const cli::PathFacts& path,
                                               const cli::TimeViewOptions& options) {
  if (!path.against || !options.against) return {};
  const cli::WalkedWindows& chosen = path.chosen;
  const cli::WalkedWindows& against = *path.against;
  flame_graph::ComparedWindows compared;
  compared.caption = fmt::format("{} against {}: {} on average, against {}",
                                 ChosenText(chosen.count, options.windows),
                                 AgainstText(against.count, *options.against),
                                 DurationText(Average(chosen.window_ns, chosen.count)),
                                 DurationText(Average(against.window_ns, against.count)));
  const report_tool::PathNames names(path.recorded);
  for (const report_tool::ListedReason& reason :
       LargestReasons(ReasonsOf(path, names), path, report_tool::kMostReasons, kLeastPercent)) {
    compared.reasons.push_back({.depth = static_cast<std::uint32_t>(reason.depth),
                                .after_ns = Average(reason.times.ns, chosen.count),
                                .before_ns = Average(reason.times.against_ns, against.count),
                                .text = reason.text});
  }
  return compared;
}

}  // namespace perftape::convert_tool
