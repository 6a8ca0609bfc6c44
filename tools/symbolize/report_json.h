// SPDX-License-Identifier: Apache-2.0
// Returns how many locations were named and why others were not, as one JSON object and a line end.
#pragma once

#include <string>

#include "convert/symbolize/symbolize.h"
#include "tools/symbolize/command_line.h"

namespace perftape::symbolize_tool {

std::string ReportJson(const symbolize::SymbolizeReport& report, const Plan& plan);

}  // namespace perftape::symbolize_tool
