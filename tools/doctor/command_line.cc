// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/command_line.h"

#include <string>
#include <utility>

#include "tools/common/cli/rows.h"

namespace perftape::doctor_tool {
namespace {

constexpr cli::Option kRows[] = {
    cli::JsonRow("print the report as one JSON object",
                 cli::SetTo<ReportAs::kJson, &Plan::report_as>),
    cli::QuietRow("print nothing, only return the status"),
};
constexpr auto kOptions = cli::Table(kRows);

constexpr cli::Command kCommand = {
    .name = "perftape-doctor",
    .purpose =
        "Check which kinds of events perftape-record can record here, why it cannot record the "
        "others, and print the commands that change it. Records and changes nothing, and needs no "
        "privileges.",
    .operands = "",
    .options = kOptions,
    .operand_completion = cli::Completion::kNothing,
    .epilogue =
        "Examples:\n"
        "  perftape-doctor              for the current user\n"
        "  sudo perftape-doctor         for root\n"
        "  perftape-doctor --json | jq -r '.findings[].command'\n"
        "Exit status: 0 a recording without options works (cpu-clock of the whole\n"
        "system), 1 it does not, 2 wrong usage.\n"};

}  // namespace

const cli::Command& DoctorCommand() {
  return kCommand;
}

Result<Plan> PlanOf(Plan plan) {
  if (!plan.operands.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "unexpected argument '" + plan.operands.front() + "'");
  }
  return plan;
}

}  // namespace perftape::doctor_tool
