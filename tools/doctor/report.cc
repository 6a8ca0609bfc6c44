// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/report.h"

#include "record/doctor/diagnosis.h"
#include "tools/doctor/report_json.h"
#include "tools/doctor/report_text.h"

namespace perftape::doctor_tool {

Result<int> PrintDiagnosis(ReportAs report_as, cli::Verbosity verbosity) {
  const record::DoctorMachine machine = record::DoctorMachine::This();
  const record::Diagnosis diagnosis = record::Diagnose(machine);
  if (report_as == ReportAs::kJson) {
    TRY(cli::PrintToStdout(ReportJson(diagnosis, machine)));
  } else if (verbosity != cli::Verbosity::kQuiet) {
    TRY(cli::PrintToStdout(ReportText(diagnosis, machine)));
  }
  return diagnosis.default_recording_works() ? cli::kDone : cli::kFailed;
}

}  // namespace perftape::doctor_tool
