// SPDX-License-Identifier: Apache-2.0
// Messages about which samples the filters kept.
#pragma once

#include <string>
#include <vector>

#include "convert/filter/filter.h"
#include "tools/common/cli/options.h"

namespace perftape::cli {

// Returns "99 samples", or the sum of plain values.
std::string AmountText(const convert::EventTotals& event);

// Returns "cycles: kept 40 of 100 samples; 60 dropped by --comm" for each event. Events whose
// samples were all kept have no line. `command` has the
// options of the filters.
std::vector<std::string> FilterLines(const Command& command, const convert::FilterReport& report);

}  // namespace perftape::cli
