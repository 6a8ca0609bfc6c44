// SPDX-License-Identifier: Apache-2.0
#include "tools/inspect/command_line.h"

#include "formats/base/library_version.h"
#include "formats/bundle/library_versions.h"
#include "formats/elf/library_versions.h"
#include "tools/common/cli/rows.h"
#include "tools/common/sandbox/sandbox.h"

namespace perftape::inspect {
namespace {

constexpr cli::Option kContentRows[] = {
    {.name = "header",
     .help = "print the format, the events with their attributes, and all features",
     .into = cli::AddTo<Section::kHeader, &Plan::sections>},
    {.name = "stats",
     .help = "print counts of records and samples as perf report --stats does, then losses and "
             "periods",
     .into = cli::AddTo<Section::kStatistics, &Plan::sections>},
    {.name = "samples",
     .help = "print a tab-separated table with one line for each sample, in time order",
     .into = cli::AddTo<Section::kSamples, &Plan::sections>},
    {.name = "records",
     .help = "print one line for each record with all fields, in file order",
     .into = cli::AddTo<Section::kRecords, &Plan::sections>},
    {.name = "validate",
     .help = "print everything that perf (from old to newest) or other readers cannot read, with "
             "offsets and readers",
     .into = cli::AddTo<Section::kValidation, &Plan::sections>},
    {.name = "losses",
     .help = "print what was lost, by event, CPU and cause, and when",
     .into = cli::AddTo<Section::kLosses, &Plan::sections>},
    {.name = "fields",
     .help = "add a column with the fields of tracepoints to the table of --samples",
     .is_rare = true,
     .into = cli::SetTo<FieldColumn::kLast, &Plan::field_column>},
    {.name = "unwind-table",
     .argument = "ELF",
     .help = "print the unwind table of this program or library instead of a perf.data: for each "
             "address, how to find the caller's registers",
     .completion = cli::Completion::kFile,
     .conflicts = "header records stats losses samples fields validate input",
     .is_rare = true,
     .into = cli::Store<&Plan::unwind_table>},
};

constexpr cli::Option kOutputRows[] = {
    cli::JsonRow("print JSON, one object on each line", cli::SetTo<Form::kJson, &Plan::form>),
};

constexpr cli::Option kOtherRows[] = {
    cli::QuietRow("print no warnings on stderr"),
    cli::InputRow("read this perf.data instead of the operand; - is stdin"),
    cli::ThreadsRow("use at most N threads for --stats (default: number of CPUs); the output does "
                    "not depend on N",
                    cli::StoreAs<cli::ParseThreads, &Plan::threads>),
    cli::NoSandboxRow(),
};
constexpr auto kOptions = cli::Table(cli::InGroup(cli::Group::kContents, kContentRows),
                                     cli::InGroup(cli::Group::kOutput, kOutputRows),
                                     cli::InGroup(cli::Group::kOther, kOtherRows));

constexpr cli::Example kExamples[] = {
    {"perftape-inspect", "a summary of perf.data, and counts of its records"},
    {"perftape-inspect --samples perf.data | head", "the first samples, one in each line"},
    {"perftape-inspect --validate perf.data", "what perf or other readers would reject"},
    {"perftape-inspect --losses perf.data", "what was lost, and when"},
    {"perftape-inspect --records --json perf.data", "all records, as input for programs"},
};

std::vector<LibraryVersion> Libraries() {
  return {ZstdVersion(), bundle::LibarchiveVersion(), elf::LzmaVersion(), elf::LibdeflateVersion()};
}

constexpr cli::Command kCommand = {
    .name = "perftape-inspect",
    .purpose =
        "Print the contents of a perf.data as text or JSON. The default is a summary of the "
        "header, then --stats.",
    .operands = "[FILE]",
    .options = kOptions,
    .examples = kExamples,
    .epilogue =
        "The default FILE is perf.data.\n"
        "Exit status: 0 success, 1 failure, 2 wrong usage, 3 success but the file is\n"
        "damaged or, with --validate, has an error.\n",
    .libraries = &Libraries,
};

}  // namespace

const cli::Command& InspectCommand() {
  return kCommand;
}

Status Confine(const Plan& plan) {
  sandbox::FileGrants grants;
  sandbox::GrantInput(plan.input, grants);
  sandbox::GrantInput(plan.unwind_table, grants);
  return sandbox::Confine(grants);
}

Result<Plan> PlanOf(Plan plan) {
  if (!plan.unwind_table.empty()) {
    if (plan.operands.empty()) return plan;
    return Fail(ErrorCode::kInvalidArgument,
                "--unwind-table reads no perf.data: remove '" + plan.operands.front() + "'");
  }
  if (plan.operands.empty()) plan.operands = {"perf.data"};
  TRY_ASSIGN(plan.input, cli::OnlyInput(plan));
  if (plan.field_column != FieldColumn::kNone && !plan.sections.contains(Section::kSamples)) {
    return Fail(ErrorCode::kInvalidArgument, "--fields adds a column to --samples: add --samples");
  }
  if (plan.sections.empty()) plan.sections = {Section::kSummary, Section::kStatistics};
  return plan;
}

}  // namespace perftape::inspect
