// SPDX-License-Identifier: Apache-2.0
// A diagnosis as text and as JSON.
#pragma once

#include <string>

#include "formats/base/result.h"
#include "record/doctor/diagnosis.h"
#include "tools/common/cli/console.h"
#include "tools/doctor/command_line.h"

namespace perftape::doctor_tool {

// Returns lines with their ends: one for each kind of event and each ability, then what is missing,
// with the remedies.
//
//   clock            cpu-clock            works
//   hardware event   instructions         does not work: this machine has no hardware counter ...
std::string ReportText(const record::Diagnosis& diagnosis, const record::DoctorMachine& machine);

// Returns one JSON object and a line end. perftape-doctor(1) describes the keys.
std::string ReportJson(const record::Diagnosis& diagnosis, const record::DoctorMachine& machine);

// Makes a diagnosis and prints its report to stdout, a text only if it is not quiet. Returns the
// exit status of perftape-doctor. Fails with the errors of PrintToStdout.
Result<int> PrintDiagnosis(ReportAs report_as, cli::Verbosity verbosity);

}  // namespace perftape::doctor_tool
