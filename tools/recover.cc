// SPDX-License-Identifier: Apache-2.0
// perftape-recover: recovers a damaged perf.data.
#include "convert/rewrite/recover.h"

#include <string>
#include <utility>

#include "formats/base/input.h"
#include "formats/bundle/expanded_input.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/output.h"
#include "tools/mains.h"
#include "tools/recover/command_line.h"
#include "tools/recover/report_text.h"

namespace perftape::recover_tool {
namespace {

Result<int> Run(const Plan& plan, cli::Console& console) {
  TRY_ASSIGN(const OutputTarget target, cli::CheckOutput(plan.output, plan.if_exists));
  TRY(cli::RefuseTerminal(target, "perf.data"));
  TRY_ASSIGN(Input input, bundle::OpenExpanded(plan.input));
  TRY_ASSIGN(const Bytes bytes, input.All());
  const Result<rewrite::RecoverReport> report = rewrite::Recover(bytes, plan.output);
  if (!report) return Fail(InContext(input.name(), report.error()));

  const std::string& output = plan.output.native();
  if (plan.report_as == ReportAs::kJson) {
    TRY(cli::PrintToStdout(ReportJson(*report, input.name(), output)));
  } else if (console.verbosity() != cli::Verbosity::kQuiet || !report->is_whole()) {
    TRY(cli::PrintToStdout(ReportText(*report, input.name(), output)));
  }
  return report->is_whole() ? cli::kDone : cli::kDegraded;
}

}  // namespace

int Main(int argc, char** argv) noexcept {
  return cli::Main<Plan>({RecoverCommand(), &PlanOf, &Run, &Confine, true}, argc, argv);
}

}  // namespace perftape::recover_tool
