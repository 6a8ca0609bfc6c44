// SPDX-License-Identifier: Apache-2.0
#include "tools/symbolize/command_line.h"

#include "tools/common/cli/output.h"
#include "tools/common/cli/rows.h"
#include "tools/common/profiles/format_options.h"
#include "tools/common/profiles/libraries.h"
#include "tools/common/profiles/symbol_options.h"
#include "tools/common/sandbox/sandbox.h"

namespace perftape::symbolize_tool {
namespace {

constexpr cli::Option kOutputRows[] = {
    cli::OutputRow("write the result to FILE; - is stdout (default, unless --to-cache is given)",
                   cli::StoreAs<&cli::ParseOutput, &Plan::output>),
    {.name = "to-cache",
     .argument = "DIR",
     .help = "write the symbol files of a perf.data to DIR, in the layout of ~/.debug, for perf "
             "--buildid-dir DIR",
     .completion = cli::Completion::kDirectory,
     .into = cli::Store<&Plan::cache>},
    cli::ForceRow(
        cli::SetTo<IfExists::kReplace, &Plan::if_exists>,
        "replace an existing output file; also replace existing names if others are found"),
    cli::JsonRow("print what was named, and from which sources, as one JSON object on stdout",
                 cli::SetTo<ReportAs::kJson, &Plan::report_as>),
};

constexpr cli::Option kOtherRows[] = {
    cli::QuietRow(),
    cli::VerboseRow("also print the names found in each binary"),
    cli::FromRow("read the input as this format, without detection: {choices}",
                 cli::StoreOffered<&cli::ParseInputFormat, &cli::InputFormats, &Plan::from>),
    cli::InputRow("read this perf.data, pprof or folded file instead of the operand; - is stdin"),
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};

constexpr auto kOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kOutputRows),
                                     cli::InGroup(cli::Group::kSymbols, cli::kSymbolRows),
                                     cli::InGroup(cli::Group::kOther, kOtherRows));

constexpr cli::Example kExamples[] = {
    {"perftape-symbolize raw.pb.gz --symfs /mnt/host -o named.pb.gz",
     "with the files of another machine"},
    {"perftape-symbolize raw.folded --kallsyms kallsyms.saved > named.folded",
     "with saved kernel symbols"},
    {"perftape-symbolize perf.data --debug-dir symbols -o carried.data",
     "add symbols to a recording"},
    {"perftape-symbolize perf.data --to-cache ~/.debug && perf report", "give perf the symbols"},
    {"perftape-symbolize raw.pb.gz --bundle host.tar.zst --show-sources -o named.pb.gz",
     "print which files the names come from"},
};

constexpr cli::Command kCommand = {
    .name = "perftape-symbolize",
    .purpose =
        "Add names from saved symbols to the addresses in a pprof or in folded stacks, or add a "
        "bundle of symbols to a perf.data.",
    .operands = "[FILE]",
    .options = kOptions,
    .examples = kExamples,
    .epilogue =
        "Exit status: 0 success, 1 failure, 2 wrong usage, 3 success but the input was damaged.\n",
    .libraries = &cli::LibrariesOfProfiles,
};

}  // namespace

const cli::Command& SymbolizeCommand() {
  return kCommand;
}

Status Confine(const Plan& plan) {
  sandbox::FileGrants grants;
  sandbox::GrantInput(plan.input, grants);
  sandbox::GrantOutput(plan.output, grants);
  sandbox::GrantDirectory(plan.cache, 0777, grants);
  const std::filesystem::path inputs[] = {plan.input};
  cli::GrantSymbolSources(plan.symbol_options, inputs, grants);
  return sandbox::Confine(grants);
}

Result<Plan> PlanOf(Plan plan) {
  TRY_ASSIGN(plan.input, cli::OnlyInput(plan));
  // If a cache is to be filled, a copy of the recording is written only on request.
  if (plan.output.empty() && plan.cache.empty()) plan.output = "-";
  plan.symbol_options.replace_names = plan.if_exists == IfExists::kReplace;
  cli::FinishSymbolOptions(plan);
  TRY(cli::CheckReportOutput(plan.report_as == ReportAs::kJson, plan.output));
  return plan;
}

}  // namespace perftape::symbolize_tool
