// SPDX-License-Identifier: Apache-2.0
// Makes a diagnosis and prints it.
#pragma once

#include "formats/base/result.h"
#include "tools/common/cli/console.h"
#include "tools/doctor/command_line.h"

namespace perftape::doctor_tool {

// Prints the report to stdout, a text only if it is not quiet. Returns the exit status of
// perftape-doctor. Fails with the errors of PrintToStdout.
Result<int> PrintDiagnosis(ReportAs report_as, cli::Verbosity verbosity);

}  // namespace perftape::doctor_tool
