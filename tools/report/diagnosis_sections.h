// SPDX-License-Identifier: Apache-2.0
// A diagnosis as text and tables: findings, what was fine, what could not be seen, and the figures.
#pragma once

#include <string>
#include <vector>

#include "convert/diagnose/facts.h"
#include "convert/diagnose/findings.h"
#include "convert/model/profile.h"
#include "tools/report/command_line.h"
#include "tools/report/table.h"

namespace perftape::report_tool {

// What is shown. All must live as long as this object.
struct ShownDiagnosis {
  const convert::Profile& profile;
  const diagnose::Facts& facts;
  const diagnose::Diagnosis& diagnosis;
};

std::vector<Section> DiagnosisSections(const ShownDiagnosis& shown, const ReportPlan& plan);

// Returns the list of all rules, with their thresholds in `rules`.
std::vector<Section> RuleSections(const diagnose::RuleSet& rules);

}  // namespace perftape::report_tool
