// SPDX-License-Identifier: Apache-2.0
#include "tools/recover/command_line.h"

#include "formats/base/library_version.h"
#include "formats/bundle/library_versions.h"
#include "tools/common/cli/rows.h"
#include "tools/common/sandbox/sandbox.h"

namespace perftape::recover_tool {
namespace {

constexpr cli::Option kOutputRows[] = {
    cli::OutputRow(
        "write the recovered file to FILE; it appears under this name only when it is complete",
        cli::StoreAs<&cli::ParseOutput, &Plan::output>),
    cli::ForceRow(cli::SetTo<IfExists::kReplace, &Plan::if_exists>),
    cli::JsonRow("print the report as one JSON object",
                 cli::SetTo<ReportAs::kJson, &Plan::report_as>),
};

constexpr cli::Option kOtherRows[] = {
    cli::QuietRow("print no report if nothing was lost or guessed"),
    cli::InputRow("read this damaged perf.data instead of the operand; - is stdin"),
    cli::NoProgressRow(),
    cli::NoSandboxRow(),
};
constexpr auto kOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kOutputRows),
                                     cli::InGroup(cli::Group::kOther, kOtherRows));

constexpr cli::Example kExamples[] = {
    {"perftape-recover perf.data -o good.data && perf report -i good.data",
     "recover a file, and view it"},
    {"ssh host cat perf.data | perftape-recover - -o good.data", "a file on another machine"},
};

std::vector<LibraryVersion> Libraries() {
  return {ZstdVersion(), bundle::LibarchiveVersion()};
}

constexpr cli::Command kCommand = {
    .name = "perftape-recover",
    .purpose =
        "Write every complete record of a damaged perf.data into a new one, and print what was "
        "kept, what was dropped, and at which offsets.",
    .operands = "[FILE]",
    .options = kOptions,
    .examples = kExamples,
    .epilogue =
        "Exit status: 0 nothing was lost, 1 nothing could be recovered, 2 wrong usage,\n"
        "3 recovered, but something was lost or guessed.\n",
    .libraries = &Libraries,
};

}  // namespace

const cli::Command& RecoverCommand() {
  return kCommand;
}

Status Confine(const Plan& plan) {
  sandbox::FileGrants grants;
  sandbox::GrantInput(plan.input, grants);
  sandbox::GrantOutput(plan.output, grants);
  return sandbox::Confine(grants);
}

Result<Plan> PlanOf(Plan plan) {
  TRY_ASSIGN(plan.input, cli::OnlyInput(plan));
  if (plan.output.empty()) return Fail(ErrorCode::kInvalidArgument, "no output given: use -o FILE");
  if (plan.output == "-") {
    return Fail(ErrorCode::kInvalidArgument,
                "-o -: the recovered perf.data cannot be written to a pipe: use -o FILE");
  }
  return plan;
}

}  // namespace perftape::recover_tool
