// SPDX-License-Identifier: Apache-2.0
// perftape-report with the options of perf report: prints the table of perf report --stdio.
#pragma once

#include <optional>

namespace perftape::report_tool {

// The main() of perftape-report if the words ask for perf's table (AsksForPerf); returns the exit
// status. Otherwise does nothing and returns nothing.
std::optional<int> MainOfPerf(int argc, char** argv) noexcept;

}  // namespace perftape::report_tool
