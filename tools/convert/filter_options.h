// SPDX-License-Identifier: Apache-2.0
// Parses the arguments of the options that filter a profile. Each function gets the option as the
// user typed it, and fails with kInvalidArgument.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "convert/filter/name_regex.h"
#include "convert/import/import_options.h"
#include "formats/base/result.h"

namespace perftape::convert_tool {

// "2.5,10", "10%,90%", ",5": either end can be missing. The values are seconds since the first
// sample, times as perf script prints them, or percent of the time from the first sample to the
// last.
Result<convert::TimeRange> ParseTimeRange(std::string_view option, std::string_view text);

// "12,13": process or thread ids, or 0.
Result<std::vector<std::int64_t>> ParseIds(std::string_view option, std::string_view text);

Result<convert::NameRegex> ParseRegex(std::string_view option, std::string_view text);

}  // namespace perftape::convert_tool
