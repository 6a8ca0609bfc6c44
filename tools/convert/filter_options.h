// SPDX-License-Identifier: Apache-2.0
// The options that say what of a profile to keep.
#pragma once

#include <span>
#include <string_view>

#include "convert/filter/filter.h"
#include "convert/import/import_options.h"
#include "formats/base/result.h"
#include "tools/common/cli/options.h"

namespace perftape::convert_tool {

// kInvalidArgument for values that are none.
Result<convert::FilterOptions> FilterOf(const cli::Parsed& parsed);

// "2.5,10", "10%,90%", ",5": either end may be missing. Seconds since the first sample, or as perf
// script prints them; percent of the time between the first sample and the last.
Result<convert::TimeRange> ParseTimeRange(std::string_view text);

}  // namespace perftape::convert_tool
