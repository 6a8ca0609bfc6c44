// SPDX-License-Identifier: Apache-2.0
// A diagnosis, and the list of rules, as JSON.
#pragma once

#include <string>

#include "convert/diagnose/rules.h"
#include "tools/report/diagnosis_sections.h"

namespace perftape::report_tool {

// Times are in nanoseconds. A "cause" is the index of another finding. Lists of calls have as many
// entries as the tables have rows.
std::string DiagnosisJson(const ShownDiagnosis& shown, const ReportPlan& plan);

std::string RulesJson(const diagnose::RuleSet& rules);

}  // namespace perftape::report_tool
