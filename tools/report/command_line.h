// SPDX-License-Identifier: Apache-2.0
// perftape-report's options, and the report that they describe.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/diagnose/rules.h"
#include "convert/formats.h"
#include "convert/summarize/breakdowns.h"
#include "convert/summarize/contents.h"
#include "convert/summarize/difference.h"
#include "convert/summarize/growth_rules.h"
#include "tools/common/profiles/time_view_options.h"

namespace perftape::report_tool {

enum class ReportFormat : std::uint8_t { kText, kMarkdown, kCsv, kJson };

struct ReportPlan : cli::TimeViewPlan {
  std::vector<std::filesystem::path> inputs;  // "-" is stdin
  const convert::Format* from = nullptr;      // null: detected from the first bytes
  std::filesystem::path output = "-";
  IfExists if_exists = IfExists::kRefuse;

  std::vector<std::filesystem::path> base;   // --diff: the inputs are compared with these
  std::vector<std::string> fail_on;          // arguments of --fail-on
  std::vector<summarize::GrowthRule> rules;  // of fail_on
  summarize::Measure measure = summarize::Measure::kShare;

  std::optional<std::size_t> rows;  // -n; how many functions and broken rules
  std::size_t functions = 20;       // how many functions; 0 for no such table
  std::size_t violations = 10;      // how many broken rules of each event; at least 1
  summarize::ContentOptions contents;

  bool hops = false;  // with --path: each step

  bool diagnose = false;  // the report is a diagnosis
  bool list_rules = false;
  std::vector<std::string> rules_files, rule_changes;  // of --rules and --rule
  diagnose::RuleSet diagnosis_rules;                   // with these changes
  std::optional<diagnose::Severity> fail_on_finding;

  ReportFormat format = ReportFormat::kText;
  std::optional<std::size_t> width;  // in columns
  bool no_pager = false;
  unsigned threads = cli::DefaultThreads();
};

const cli::Command& ReportCommand();

// Returns the argument of --by that selects a property: "comm". Not for kLabel.
std::string_view WordOf(summarize::Property property);

// Checks a parsed plan and completes it. Fails with kInvalidArgument for usage errors, and as
// ReadFailRules does.
Result<ReportPlan> PlanOf(ReportPlan plan);

// Begins a sandbox in which the plan can be carried out (tools/common/sandbox).
Status Confine(const ReportPlan& plan);

}  // namespace perftape::report_tool
