// SPDX-License-Identifier: Apache-2.0
// The values of perf report's options: lists of keys, styles of call chains, and the defaults that
// depend on other options.
#pragma once

#include <string_view>

#include "formats/base/result.h"
#include "tools/common/cli/target.h"

namespace perftape::report_tool {

// Setters of fields of a PerfPlan (cli::Target::store).
Status StorePercentage(cli::BaseOptions& options, std::string_view spelled, std::string_view text);
Status StoreWidths(cli::BaseOptions& options, std::string_view spelled, std::string_view text);
Status StoreNoCallGraph(cli::BaseOptions& options, std::string_view spelled, std::string_view text);
Status StoreQuantum(cli::BaseOptions& options, std::string_view spelled, std::string_view text);

}  // namespace perftape::report_tool
