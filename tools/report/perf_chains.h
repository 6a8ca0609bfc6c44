// SPDX-License-Identifier: Apache-2.0
// The callchains below a line of perf's table, as text.
#pragma once

#include <cstdint>
#include <string>

#include "convert/histogram/entry.h"
#include "convert/histogram/histogram.h"
#include "tools/report/perf_layout.h"

namespace perftape::report_tool {

// Appends the chains of an entry. `total` is what percentages relate to. Sorts the chains.
void AppendChains(histogram::Entry& entry, std::uint64_t total, const histogram::Settings& settings,
                  const histogram::NameTable& names, const PerfLayout& layout, std::string& text);

}  // namespace perftape::report_tool
