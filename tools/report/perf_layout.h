// SPDX-License-Identifier: Apache-2.0
// A histogram as text, in the layout of `perf report --stdio` (tools/perf/ui/stdio/hist.c).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "convert/histogram/histogram.h"

namespace perftape::report_tool {

enum class ChainValue : std::uint8_t { kPercent, kPeriod, kCount };

struct PerfLayout {
  histogram::TextStyle style;
  std::string separator;             // -t; empty: columns are aligned with blanks
  std::vector<std::string> elided;   // the words of keys that are not shown
  std::vector<unsigned> widths;      // -w
  bool has_header = true;            // the lines with #
  bool calls_overhead_self = false;  // beside the column "Children"
  bool is_relative = false;          // shares are of the samples that filters kept
  double percent_limit = 0;          // entries with a smaller share are left out
  double chain_percent = 0.5;        // branches with a smaller share are left out
  std::size_t chain_limit = 0;       // the most branches at one level; 0: no limit
  ChainValue chain_value = ChainValue::kPercent;
  bool skips_first_frame = false;  // of chains with only one branch: it is the symbol
};

// Returns the headings and lines of a histogram, with its callchains. Sorts the chains.
std::string PerfTable(const histogram::Histogram& histogram, const histogram::Settings& settings,
                      const histogram::NameTable& names, const PerfLayout& layout);

}  // namespace perftape::report_tool
