// SPDX-License-Identifier: Apache-2.0
// The contents of a report as tables, for text, Markdown and CSV.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tools/report/contents.h"
#include "tools/report/table.h"

namespace perftape::report_tool {

// Returns a section about what was read, then one for each event.
std::vector<Section> SectionsOf(const Contents& contents, const ReadContents& read,
                                const ReportPlan& plan);

// Returns the message that nothing has a label of --by. `fields` are the names of the events'
// fields.
std::string NoLabelLine(std::string_view label, const convert::Profile& profile,
                        std::set<std::string> fields);

// Returns "comm", or "label region".
std::string NameOf(const summarize::GroupBy& by);

}  // namespace perftape::report_tool
