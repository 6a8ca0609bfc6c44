// SPDX-License-Identifier: Apache-2.0
#include "tools/report/path_times.h"

#include <algorithm>
#include <cstddef>

#include "formats/perfdata/period_unit.h"

namespace perftape::report_tool {
namespace {

double Average(std::int64_t ns, std::size_t windows) {
  return static_cast<double>(ns) / static_cast<double>(std::max<std::size_t>(windows, 1));
}

Quantity TimeOf(double ns) {
  return {.value = ns, .unit = perfdata::kNanoseconds};
}

}  // namespace

double PathTimes::ValueIn(const cli::PathFacts& path) const {
  if (!path.against) return static_cast<double>(ns);
  return Average(ns, path.chosen.count) - Average(against_ns, path.against->count);
}

PathTimes LengthOf(const cli::PathFacts& path) {
  return {.ns = path.chosen.window_ns, .against_ns = path.against ? path.against->window_ns : 0};
}

std::vector<Column> TimeColumns(const cli::PathFacts& path) {
  if (!path.against) return {{.title = "Share"}, {.title = "Time"}};
  return {{.title = "Difference"}, {.title = "Window"}, {.title = "Against"}};
}

std::vector<Cell> TimeCells(const PathTimes& times, const cli::PathFacts& path) {
  if (!path.against) {
    const auto total = static_cast<double>(std::max<std::int64_t>(path.chosen.window_ns, 1));
    return {Percent{.value = 100 * static_cast<double>(times.ns) / total},
            TimeOf(static_cast<double>(times.ns))};
  }
  return {TimeOf(times.ValueIn(path)), TimeOf(Average(times.ns, path.chosen.count)),
          TimeOf(Average(times.against_ns, path.against->count))};
}

}  // namespace perftape::report_tool
