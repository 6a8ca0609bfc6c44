// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/command_line.h"

#include <utility>

#include "tools/common/cli/values.h"

namespace perftape::inspect {
namespace {

constexpr cli::Option kOptions[] = {
    {.name = "header",
     .help = "what the file says of itself: format, events with their attributes, all features"},
    {.name = "records", .help = "one line for each record, all fields by name, in file order"},
    {.name = "stats",
     .help = "counts of records and samples, as `perf report --stats` prints them, then losses "
             "and periods"},
    {.name = "samples",
     .help = "a table with one line for each sample, tab-separated, in time order"},
    {.name = "validate",
     .help =
         "what perf, old and newest, and other readers will not like, where, and who refuses it"},
    {.name = "json", .help = "the same as JSON, one object a line"},
    {.name = "input",
     .letter = 'i',
     .argument = "FILE",
     .help = "the perf.data, instead of the operand; - is stdin",
     .completion = cli::Completion::kFile},
    {.name = "threads",
     .letter = 'j',
     .argument = "N",
     .help = "threads that may work at once on --stats (default as many as there are CPUs); the "
             "output does not depend on it"},
    {.name = "quiet", .letter = 'q', .help = "no warnings on stderr"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-inspect",
    .purpose =
        "Show what is in a perf.data, as text or JSON. Without an option: a summary of the "
        "header, then --stats.",
    .operands = "[FILE]",
    .options = kOptions,
    .epilogue =
        "FILE is perf.data where none is given.\n"
        "Exit status: 0 done, 1 failed, 2 usage, 3 done but the file is damaged\n"
        "or, with --validate, has an error.\n"};

}  // namespace

const cli::Command& InspectCommand() {
  return kCommand;
}

Result<Plan> PlanOf(const cli::Parsed& parsed) {
  Plan plan;
  std::vector<std::string> inputs = parsed.operands();
  for (const std::string_view input : parsed.Values("input")) inputs.emplace_back(input);
  if (inputs.size() > 1) {
    return Fail(ErrorCode::kInvalidArgument, "one file at a time, not also " + inputs[1]);
  }
  plan.input = inputs.empty() ? "perf.data" : inputs.front();
  constexpr std::pair<std::string_view, Section> kSections[] = {
      {"header", Section::kHeader},       {"stats", Section::kStatistics},
      {"records", Section::kRecords},     {"samples", Section::kSamples},
      {"validate", Section::kValidation},
  };
  for (const auto& [name, section] : kSections) {
    if (parsed.Has(name)) plan.sections.push_back(section);
  }
  if (parsed.Has("json")) plan.form = Form::kJson;
  TRY_ASSIGN(plan.threads, cli::ParseThreads("-j", parsed.Value("threads")));
  if (plan.sections.empty()) plan.sections = {Section::kSummary, Section::kStatistics};
  return plan;
}

}  // namespace perftape::inspect
