// SPDX-License-Identifier: Apache-2.0
// The contents of a report as JSON.
#pragma once

#include <string>

#include "tools/report/contents.h"

namespace perftape::report_tool {

// Returns one JSON object. Amounts are numbers of samples and weights; percentages are computed
// from the weights.
std::string ReportJson(const Contents& contents, const ReadContents& read, const ReportPlan& plan);

}  // namespace perftape::report_tool
