// SPDX-License-Identifier: Apache-2.0
#include "tools/report/command_line.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "convert/diagnose/facts.h"
#include "convert/model/label_keys.h"
#include "formats/base/file.h"
#include "formats/otlp/conventions.h"
#include "tools/common/cli/output.h"
#include "tools/common/cli/rows.h"
#include "tools/common/profiles/format_options.h"
#include "tools/common/profiles/libraries.h"
#include "tools/common/profiles/symbol_options.h"
#include "tools/common/sandbox/sandbox.h"
#include "tools/report/fail_rules.h"

namespace perftape::report_tool {
namespace {

using summarize::GroupBy;
using summarize::Property;

constexpr std::string_view kLabelPrefix = "label:";
constexpr std::string_view kFieldPrefix = "field:";
constexpr std::size_t kHistogramBins = 60;  // with its duration, fits into 80 columns

constexpr std::pair<std::string_view, Property> kProperties[] = {
    {"comm", Property::kComm}, {"pid", Property::kPid},   {"tid", Property::kTid},
    {"dso", Property::kDso},   {"cpu", Property::kCpu},   {"cgroup", Property::kCgroup},
    {"pod", Property::kPod},   {"unit", Property::kUnit}, {"service", Property::kService},
};

std::vector<cli::Offer> Groups() {
  std::vector<cli::Offer> offers;
  for (const auto& [word, property] : kProperties) offers.push_back({.word = std::string(word)});
  offers.push_back({.word = "label:KEY"});
  return offers;
}

// Returns "comm" of "label:comm" and "label:field:comm"; empty for other words.
std::string_view LabelOf(std::string_view word) {
  if (!word.starts_with(kLabelPrefix)) return {};
  word.remove_prefix(kLabelPrefix.size());
  if (word.starts_with(kFieldPrefix)) word.remove_prefix(kFieldPrefix.size());
  return word;
}

// Parses "comm,label:region".
Result<std::vector<GroupBy>> ParseGroups(std::string_view option, std::string_view text) {
  std::vector<GroupBy> groups;
  for (const std::string_view word : cli::SplitAtCommas(text)) {
    const auto* const known =
        std::ranges::find(kProperties, word, &std::pair<std::string_view, Property>::first);
    if (known != std::end(kProperties)) {
      groups.push_back({.property = known->second});
    } else if (const std::string_view label = LabelOf(word); !label.empty()) {
      groups.push_back({.property = Property::kLabel, .label = std::string(label)});
    } else {
      return cli::UnknownValue(option, word, Groups());
    }
  }
  return groups;
}

// An empty text is ten rows.
Result<std::size_t> ParseStacks(std::string_view option, std::string_view text) {
  constexpr std::size_t kUsualStacks = 10;
  if (text.empty()) return kUsualStacks;
  return cli::ParseNumberIn<std::size_t, 0, UINT32_MAX>(option, text);
}

constexpr cli::Choice<summarize::SortBy> kSorts[] = {
    {"self", summarize::SortBy::kSelf, "default"},
    {"total", summarize::SortBy::kTotal},
};

constexpr cli::Choice<summarize::TreeDirection> kDirections[] = {
    {"callees", summarize::TreeDirection::kCallees, "default"},
    {"callers", summarize::TreeDirection::kCallers},
};

std::vector<cli::Offer> Directions() {
  std::vector<cli::Offer> offers;
  for (const auto& choice : kDirections) {
    offers.push_back({.word = std::string(choice.word), .note = std::string(choice.note)});
  }
  return offers;
}

// An empty text is the tree from callers to callees.
Result<summarize::TreeDirection> ParseTree(std::string_view option, std::string_view text) {
  if (text.empty()) return summarize::TreeDirection::kCallees;
  for (const auto& choice : kDirections) {
    if (choice.word == text) return choice.value;
  }
  return cli::UnknownValue(option, text, Directions());
}

constexpr cli::Option kContentRows[] = {
    {.name = "functions",
     .letter = 'n',
     .argument = "N",
     .help =
         "show the N functions with the most samples and the N largest rows of wakeups (default "
         "20), and N violations of --fail-on (default 10); 0 shows no functions and no wakeups",
     .into = cli::StoreAs<&cli::ParseNumberIn<std::size_t, 0, UINT32_MAX>, &ReportPlan::rows>},
    {.name = "by",
     .argument = "LIST",
     .help = "also add up the samples by {choices}, or several separated by commas",
     .into = cli::StoreOffered<&ParseGroups, &Groups, &ReportPlan::contents,
                               &summarize::ContentOptions::groups>},
    {.name = "tree",
     .argument = "DIRECTION",
     .help = "show a call tree: {choices}; with --focus, of the functions that match",
     .argument_is_optional = true,
     .into = cli::StoreOffered<&ParseTree, &Directions, &ReportPlan::contents,
                               &summarize::ContentOptions::tree>},
    {.name = "lines",
     .argument = "REGEX",
     .help = "show the source lines of the functions that match",
     .into =
         cli::StoreAs<&cli::ParseRegex, &ReportPlan::contents, &summarize::ContentOptions::lines>},
    {.name = "sort",
     .argument = "KEY",
     .help = "sort the functions by the samples in them alone, or by those with their callees: "
             "{choices}",
     .into = cli::StoreChoice<kSorts, &ReportPlan::contents, &summarize::ContentOptions::sort>},
    {.name = "stacks",
     .argument = "N",
     .help = "show the N most frequent whole stacks (default 10)",
     .argument_is_optional = true,
     .into = cli::StoreAs<&ParseStacks, &ReportPlan::contents, &summarize::ContentOptions::stacks>},
    {.name = "percent-limit",
     .argument = "PERCENT",
     .help = "leave out branches of the tree with less than PERCENT of the total (default 0.5)",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParsePercent, &ReportPlan::contents,
                          &summarize::ContentOptions::percent_limit>},
};

constexpr cli::Option kHopsRows[] = {
    {.name = "hops",
     .help = "with --path, list each step of the path with its time",
     .into = cli::Set<&ReportPlan::hops>},
};

constexpr cli::Choice<diagnose::Severity> kSeverities[] = {
    {diagnose::kSeverityNames[0], diagnose::Severity::kInfo},
    {diagnose::kSeverityNames[1], diagnose::Severity::kWarning},
    {diagnose::kSeverityNames[2], diagnose::Severity::kCritical},
};

constexpr cli::Option kDiagnosisRows[] = {
    {.name = "diagnose",
     .help = "show what is wrong according to rules, causes before symptoms: slow and failed calls "
             "of latency probes, limits of cgroups, kills for lack of memory (perftape-record -e "
             "latency:SET --cgroup-usage)",
     .conflicts = "diff by tree lines stacks event time cpu tid dso symbol focus ignore",
     .into = cli::Set<&ReportPlan::diagnose>},
    {.name = "fail-on-finding",
     .argument = "SEVERITY",
     .help = "exit with status 3 if there is a finding of this severity or above: {choices}",
     .into = cli::StoreChoice<kSeverities, &ReportPlan::fail_on_finding>},
    {.name = "rule",
     .argument = "NAME=THRESHOLD",
     .help = "change the threshold of a rule: fsync-slow=50ms, cpu-throttled=25%; NAME=off turns "
             "the rule off; can be given several times",
     .into = cli::Store<&ReportPlan::rule_changes>},
    {.name = "rules",
     .argument = "FILE",
     .help = "read changes of rules from FILE, one on each line; --rule is applied after that",
     .completion = cli::Completion::kFile,
     .is_rare = true,
     .into = cli::Store<&ReportPlan::rules_files>},
    {.name = "list-rules",
     .help = "list the rules with their thresholds, and exit",
     .is_rare = true,
     .into = cli::Set<&ReportPlan::list_rules>},
};

constexpr cli::Option kDiffRows[] = {
    {.name = "diff",
     .argument = "OLD",
     .help = "compare the files with OLD; can be given several times, for several recordings of "
             "the old program",
     .completion = cli::Completion::kFile,
     .conflicts = "by tree lines",
     .into = cli::Store<&ReportPlan::base>},
    {.name = "fail-on",
     .argument = "RULE",
     .help = "exit with status 3 if a function grew beyond the noise: 'qsort* self +5%', 'parse "
             "total +2pp', or @FILE with a rule on each line; can be given several times",
     .into = cli::Store<&ReportPlan::fail_on>},
    {.name = "absolute",
     .help = "compare times or counts instead of shares of the total; use it if both programs did "
             "the same work",
     .into = cli::SetTo<summarize::Measure::kWeight, &ReportPlan::measure>},
};

constexpr cli::Option kEventRows[] = {
    cli::EventRow("report only on these events"),
};

constexpr cli::Option kOutputRows[] = {
    cli::OutputRow("write the report to FILE; - is stdout, the default",
                   cli::StoreAs<&cli::ParseOutput, &ReportPlan::output>),
    cli::ForceRow(cli::SetTo<IfExists::kReplace, &ReportPlan::if_exists>),
    {.name = "json",
     .help = "write the report as JSON",
     .conflicts = "markdown csv",
     .into = cli::SetTo<ReportFormat::kJson, &ReportPlan::format>},
    {.name = "markdown",
     .help = "write the tables in Markdown, for a pull request or an issue",
     .conflicts = "csv",
     .into = cli::SetTo<ReportFormat::kMarkdown, &ReportPlan::format>},
    {.name = "csv",
     .help = "write the tables as comma-separated values",
     .into = cli::SetTo<ReportFormat::kCsv, &ReportPlan::format>},
    {.name = "width",
     .argument = "N",
     .help = "fit lines into N columns by shortening names; default: the width of the terminal; no "
             "limit if stdout is not a terminal",
     .is_rare = true,
     .into = cli::StoreAs<&cli::ParseNumberIn<std::size_t, 40, 100000>, &ReportPlan::width>},
    {.name = "no-pager",
     .help = "write to the terminal without a pager",
     .is_rare = true,
     .into = cli::Set<&ReportPlan::no_pager>},
};

constexpr cli::Option kOtherRows[] = {
    cli::QuietRow("print only the report and errors"),
    cli::VerboseRow("also print each input, and the names found in each binary"),
    cli::FromRow("read the inputs as this format, without detection: {choices}",
                 cli::StoreOffered<&cli::ParseInputFormat, &cli::InputFormats, &ReportPlan::from>),
    cli::InputRow("report on this file, like an operand; - is stdin"),
    cli::ThreadsRow("use at most N threads (default: number of CPUs)",
                    cli::StoreAs<cli::ParseThreads, &ReportPlan::threads>),
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};

constexpr auto kOptions = cli::Table(
    cli::InGroup(cli::Group::kContents, kContentRows),
    cli::InGroup(cli::Group::kDiagnosis, kDiagnosisRows),
    cli::InGroup(cli::Group::kComparison, kDiffRows),
    cli::InGroup(cli::Group::kSelection, kEventRows),
    cli::InGroup(cli::Group::kSelection, cli::kFilterRows),
    cli::InGroup(cli::Group::kTime, cli::kTimeViewRows), cli::InGroup(cli::Group::kTime, kHopsRows),
    cli::InGroup(cli::Group::kSymbols, cli::kSymbolRows),
    cli::InGroup(cli::Group::kOutput, kOutputRows), cli::InGroup(cli::Group::kOther, kOtherRows));

constexpr cli::Example kExamples[] = {
    {"perftape-report", "the functions with the most samples in perf.data"},
    {"perftape-report perf.data --by comm,dso", "also by thread and binary"},
    {"perftape-report perf.data --tree --focus '^qsort$'", "what a function calls"},
    {"perftape-report perf.data --tree=callers --focus malloc", "who calls a function"},
    {"perftape-report perf.data --lines '^main$'", "the source lines of a function"},
    {"perftape-report --diagnose --fail-on-finding critical", "what is wrong, for a script"},
    {"perftape-report old.pb.gz --markdown -o report.md", "a table for a pull request"},
    {"perftape-report --diff old.data new.data --fail-on 'parse self +5%'",
     "fail if a function became slower"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-report",
    .purpose = "Show where a profile spends its time: totals, functions, stacks, call trees.",
    .operands = "[FILE...]",
    .options = kOptions,
    .examples = kExamples,
    .epilogue =
        "With an option of perf report, such as -s, -g or --stdio, it prints perf's table.\n"
        "'perftape-report --stdio --help-all' lists these options.\n\n"
        "Exit status: 0 success, 1 failure, 2 wrong usage, 3 success but an input was damaged,\na "
        "function breaks a rule of --fail-on, or --fail-on-finding has a finding.\n",
    .libraries = &cli::LibrariesOfProfiles,
};

// A diagnosis with so many samples would take too much memory.
constexpr std::uint64_t kMostDiagnosedSamples = 4'000'000;

// Reads the rules, and asks the reader for what a diagnosis needs.
Status FinishDiagnosis(ReportPlan& plan) {
  for (const std::string& file : plan.rules_files) {
    constexpr std::uint64_t kLargestRules = 1 << 20;
    TRY_ASSIGN(const std::string lines, ReadWholeFile(file, kLargestRules));
    if (Status changed = plan.diagnosis_rules.ChangeAll(lines); !changed) {
      return Fail(InContext("--rules " + file, std::move(changed).error()));
    }
  }
  for (const std::string& change : plan.rule_changes) {
    if (Status changed = plan.diagnosis_rules.Change(change); !changed) {
      return Fail(InContext("--rule", std::move(changed).error()));
    }
  }
  if (!plan.diagnose) {
    const bool has_rules = !plan.rules_files.empty() || !plan.rule_changes.empty();
    if ((!has_rules || plan.list_rules) && !plan.fail_on_finding) return {};
    return Fail(ErrorCode::kInvalidArgument,
                plan.fail_on_finding ? "--fail-on-finding needs --diagnose"
                                     : "--rule and --rules need --diagnose or --list-rules");
  }
  if (plan.time_view.view != cli::TimeView::kNone) {
    return Fail(ErrorCode::kInvalidArgument,
                "--diagnose cannot be combined with --wall, --path, --latency and --parallelism");
  }
  plan.import.time_label = plan.import.cgroup_label = true;
  plan.import.most_timed_samples = kMostDiagnosedSamples;
  plan.import.field_labels = diagnose::NeededFields();
  plan.import.wants_event = &diagnose::IsNeeded;
  return {};
}

}  // namespace

const cli::Command& ReportCommand() {
  return kCommand;
}

std::string_view WordOf(Property property) {
  return std::ranges::find(kProperties, property, &std::pair<std::string_view, Property>::second)
      ->first;
}

Result<ReportPlan> PlanOf(ReportPlan plan) {
  plan.inputs.assign(plan.operands.begin(), plan.operands.end());
  if (plan.inputs.empty()) plan.inputs.emplace_back("perf.data");
  if (plan.base.empty() && (!plan.fail_on.empty() || plan.measure == summarize::Measure::kWeight)) {
    return Fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} needs --diff OLD", plan.fail_on.empty() ? "--absolute" : "--fail-on"));
  }
  if (std::ranges::count(plan.inputs, "-") + std::ranges::count(plan.base, "-") > 1) {
    return Fail(ErrorCode::kInvalidArgument, "-: stdin can be read only once");
  }
  TRY_ASSIGN(plan.rules, ReadFailRules(plan.fail_on));
  const bool has_points = std::ranges::count(plan.rules, summarize::GrowthRule::Unit::kPoints,
                                             &summarize::GrowthRule::unit) > 0;
  if (has_points && plan.measure == summarize::Measure::kWeight) {
    return Fail(ErrorCode::kInvalidArgument,
                "--fail-on: percentage points (pp) cannot be combined with --absolute");
  }
  if (plan.rows) plan.functions = *plan.rows;
  if (plan.rows.value_or(0) != 0) plan.violations = *plan.rows;
  plan.contents.tree_start = plan.filter.focus;
  plan.import.threads = plan.threads;
  plan.import.histogram_bins = kHistogramBins;
  for (const GroupBy& group : plan.contents.groups) {
    plan.import.cpu_label |= group.property == Property::kCpu;
    plan.import.cgroup_label |= group.property == Property::kCgroup;
    plan.import.container_labels |= group.property == Property::kPod ||
                                    group.property == Property::kUnit ||
                                    convert::IsContainerLabel(group.label);
    plan.import.service_labels |=
        group.property == Property::kService || otlp::IsServiceAttribute(group.label);
    if (group.property == Property::kLabel) plan.import.field_labels.push_back(group.label);
  }
  plan.import.cpu_label |= plan.filter.needs_cpu();
  plan.import.cgroup_label |= plan.filter.needs_cgroup();
  TRY(cli::FinishTimeViewOptions(plan.inputs.size(), plan));
  TRY(FinishDiagnosis(plan));
  plan.contents.latency = plan.time_view.view == cli::TimeView::kLatency;
  if (plan.hops && plan.time_view.view != cli::TimeView::kPath) {
    return Fail(ErrorCode::kInvalidArgument, "--hops needs --path");
  }
  cli::FinishSymbolOptions(plan);
  return plan;
}

Status Confine(const ReportPlan& plan) {
  std::vector<std::filesystem::path> inputs = plan.inputs;
  inputs.insert(inputs.end(), plan.base.begin(), plan.base.end());
  sandbox::FileGrants grants;
  for (const std::filesystem::path& input : inputs) sandbox::GrantInput(input, grants);
  sandbox::GrantOutput(plan.output, grants);
  cli::GrantSymbolSources(plan.symbol_options, inputs, grants);
  return sandbox::Confine(grants);
}

}  // namespace perftape::report_tool
