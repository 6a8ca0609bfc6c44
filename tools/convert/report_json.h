// SPDX-License-Identifier: Apache-2.0
// The report of a conversion as one JSON object and a line end. Bytes that are not UTF-8 become
// U+FFFD.
#pragma once

#include <string>

#include "convert/rewrite/normalize.h"
#include "tools/convert/command_line.h"
#include "tools/convert/report.h"

namespace perftape::convert_tool {

std::string ReportJson(const ConversionReport& report, const Plan& plan);

// The report of a perf.data that was written as a perf.data.
std::string ReportJson(const rewrite::NormalizeReport& report, const Plan& plan);

}  // namespace perftape::convert_tool
