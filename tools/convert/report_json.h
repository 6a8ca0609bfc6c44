// SPDX-License-Identifier: Apache-2.0
// What a conversion found, as one JSON object and a line end: for scripts. Texts that are not UTF-8
// have U+FFFD in them.
#pragma once

#include <string>

#include "convert/rewrite/normalize.h"
#include "tools/convert/command_line.h"
#include "tools/convert/report.h"

namespace perftape::convert_tool {

std::string ReportJson(const ConversionReport& report, const Plan& plan);

// Of a perf.data into a perf.data.
std::string ReportJson(const rewrite::NormalizeReport& report, const Plan& plan);

}  // namespace perftape::convert_tool
