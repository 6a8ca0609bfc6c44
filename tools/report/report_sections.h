// SPDX-License-Identifier: Apache-2.0
// The contents of a report as tables, for text, Markdown and CSV, and as JSON.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "convert/summarize/contents.h"
#include "tools/common/profiles/time_view_options.h"
#include "tools/report/command_line.h"
#include "tools/report/table.h"

namespace perftape::report_tool {

// Returns a section about what was read, then one for each event.
std::vector<Section> SectionsOf(const summarize::Contents& contents,
                                const summarize::ReadContents& read, const ReportPlan& plan);

// Returns one JSON object, with an object "path" if there is one. Amounts are numbers of samples
// and weights; percentages are computed from the weights.
std::string ReportJson(const summarize::Contents& contents, const summarize::ReadContents& read,
                       const std::optional<cli::PathFacts>& path, const ReportPlan& plan);

// Returns the message that nothing has a label of --by. `fields` are the names of the events'
// fields.
std::string NoLabelLine(std::string_view label, const convert::Profile& profile,
                        std::set<std::string> fields);

}  // namespace perftape::report_tool
