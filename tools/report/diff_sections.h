// SPDX-License-Identifier: Apache-2.0
// A comparison as tables and as JSON.
#pragma once

#include <string>
#include <vector>

#include "convert/summarize/difference.h"
#include "tools/report/command_line.h"
#include "tools/report/fail_rules.h"
#include "tools/report/table.h"

namespace perftape::report_tool {

// A comparison of one event, with what breaks the rules.
struct ComparedEvent {
  summarize::EventDifference difference;
  RuleResult rules;
};

// Returns a section for each event. Differences beyond the noise, at 95 percent, are coloured.
std::vector<Section> SectionsOf(const std::vector<ComparedEvent>& events, const ReportPlan& plan);

std::string DiffJson(const std::vector<ComparedEvent>& events, const ReportPlan& plan);

}  // namespace perftape::report_tool
