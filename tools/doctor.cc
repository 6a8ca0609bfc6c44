// SPDX-License-Identifier: Apache-2.0
// perftape-doctor: checks what perftape-record can record here, and what is missing for the rest.
#include "record/doctor/diagnosis.h"
#include "tools/common/cli/console.h"
#include "tools/doctor/command_line.h"
#include "tools/doctor/report_json.h"
#include "tools/doctor/report_text.h"

namespace perftape::doctor_tool {
namespace {

Result<int> Run(const Plan& plan, cli::Console& console) {
  const record::DoctorMachine machine = record::DoctorMachine::This();
  const record::Diagnosis diagnosis = record::Diagnose(machine);
  if (plan.report_as == ReportAs::kJson) {
    TRY(cli::PrintToStdout(ReportJson(diagnosis, machine)));
  } else if (console.verbosity() != cli::Verbosity::kQuiet) {
    TRY(cli::PrintToStdout(ReportText(diagnosis, machine)));
  }
  return diagnosis.default_recording_works() ? cli::kDone : cli::kFailed;
}

}  // namespace
}  // namespace perftape::doctor_tool

int main(int argc, char** argv) noexcept {
  using namespace perftape;
  return cli::Main<doctor_tool::Plan>(
      {doctor_tool::DoctorCommand(), &doctor_tool::PlanOf, &doctor_tool::Run}, argc, argv);
}
