// SPDX-License-Identifier: Apache-2.0
#include "tools/view/command_line.h"

#include "tools/common/cli/rows.h"

namespace perftape::view_tool {
namespace {

constexpr cli::Option kOutputRows[] = {
    cli::OutputRow("write the page to FILE, which ends in .html; an existing file is replaced",
                   cli::Store<&ViewPlan::output>),
    {.name = "no-browser",
     .letter = 'n',
     .help = "start no browser, only print the address",
     .into = cli::Set<&ViewPlan::only_print>},
};

constexpr cli::Option kOtherRows[] = {
    cli::QuietRow(),
};
constexpr auto kViewOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kOutputRows),
                                         cli::InGroup(cli::Group::kOther, kOtherRows));

constexpr cli::Example kExamples[] = {
    {"perftape-view -n perf.data", "make the page, and print its address"},
    {"perftape-view -n -o profile.html perf.data", "keep the page"},
};

constexpr cli::Command kViewCommand = {
    .name = "perftape-view",
    .purpose =
        "Show a profile in the browser: make its page with perftape-convert, and open it. Print "
        "the address.",
    .operands = "[FILE...]",
    .options = kViewOptions,
    .examples = kExamples,
};

}  // namespace

const cli::Command& ViewCommand() {
  return kViewCommand;
}

Result<ViewPlan> PlanOf(ViewPlan plan) {
  plan.inputs = plan.operands;
  if (plan.inputs.empty()) plan.inputs = {"perf.data"};
  if (!plan.output.empty() && plan.output.extension() != ".html") {
    return Fail(ErrorCode::kInvalidArgument,
                "-o " + plan.output.native() + ": a page has a name that ends in .html");
  }
  return plan;
}

}  // namespace perftape::view_tool
