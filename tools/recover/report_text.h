// SPDX-License-Identifier: Apache-2.0
// What became of a damaged file, for a person and for a program.
#pragma once

#include <string>

#include "convert/rewrite/recover_report.h"

namespace perftape::recover_tool {

// Lines, each ended. `input` and `output` are the files' names.
std::string ReportText(const rewrite::RecoverReport& report, std::string_view input,
                       std::string_view output);

// One JSON object and a line end; perftape-recover(1) tells its keys.
std::string ReportJson(const rewrite::RecoverReport& report, std::string_view input,
                       std::string_view output);

}  // namespace perftape::recover_tool
