// SPDX-License-Identifier: Apache-2.0
// The contents of a report as tables, for text, Markdown and CSV.
#pragma once

#include <vector>

#include "tools/report/contents.h"
#include "tools/report/table.h"

namespace perftape::report_tool {

// Returns a section about what was read, then one for each event.
std::vector<Section> SectionsOf(const Contents& contents, const ReadContents& read,
                                const ReportPlan& plan);

// Returns "comm", or "label region".
std::string NameOf(const summarize::GroupBy& by);

}  // namespace perftape::report_tool
