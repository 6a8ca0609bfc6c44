// SPDX-License-Identifier: Apache-2.0
// The table of perf diff (tools/perf/builtin-diff.c of Linux 6.1): the share of each symbol in two
// or more recordings.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::perf_tool {

// What the columns of the later recordings show.
enum class DiffColumn : std::uint8_t {
  kDelta,          // the difference of the shares
  kDeltaAbsolute,  // the same, sorted by its size
  kRatio,          // of the periods
};

// As perf's sort keys "dso,symbol". Functions without names are one symbol for each binary.
struct SymbolKey {
  std::string dso;     // "libc.so.6"
  std::string symbol;  // "[.] malloc", "[k] schedule", "[.] [unknown]"
  auto operator<=>(const SymbolKey&) const = default;
};

struct SymbolShare {
  double percent = 0;       // of all samples of the event
  std::int64_t period = 0;  // the sum of the periods
};

using SymbolShares = std::map<SymbolKey, SymbolShare>;

// Returns the shares of the functions that were sampled themselves, without their callees.
SymbolShares SharesOf(const convert::Profile& profile, convert::EventId event);

// Returns the header and a line for each symbol. The first shares are the baseline. `names` are the
// files, which are listed if there are more than two. With `is_quiet`, there is no header.
std::string DiffTable(std::span<const SymbolShares> files, std::span<const std::string> names,
                      DiffColumn column, bool is_quiet);

}  // namespace perftape::perf_tool
