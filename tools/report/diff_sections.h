// SPDX-License-Identifier: Apache-2.0
// A comparison as tables and as JSON.
#pragma once

#include <string>
#include <vector>

#include "convert/summarize/difference.h"
#include "convert/summarize/growth_rules.h"
#include "tools/report/command_line.h"
#include "tools/report/table.h"

namespace perftape::report_tool {

// A comparison of one event, with what breaks the rules.
struct ComparedEvent {
  summarize::EventDifference difference;
  summarize::RuleResult rules;
};

// Whether the report lists what breaks the rules. If it does not, the messages on stderr do, so
// that a log of both has each once: text on stdout is such a log, but Markdown is often published.
bool ListsViolations(const ReportPlan& plan);

// Returns a line for each of the largest violations, and how many more there are.
std::vector<std::string> ViolationLines(const ComparedEvent& event, const ReportPlan& plan);

// Returns a section for each event. Differences beyond the noise, at 95 percent, are coloured.
std::vector<Section> SectionsOf(const std::vector<ComparedEvent>& events, const ReportPlan& plan);

std::string DiffJson(const std::vector<ComparedEvent>& events, const ReportPlan& plan);

}  // namespace perftape::report_tool
