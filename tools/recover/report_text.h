// SPDX-License-Identifier: Apache-2.0
// The result of a recovery, as text and as JSON.
#pragma once

#include <string>

#include "convert/rewrite/recover.h"

namespace perftape::recover_tool {

// Returns lines with their ends. `input` and `output` are the files' names.
std::string ReportText(const rewrite::RecoverReport& report, std::string_view input,
                       std::string_view output);

// Returns one JSON object and a line end. perftape-recover(1) describes the keys.
std::string ReportJson(const rewrite::RecoverReport& report, std::string_view input,
                       std::string_view output);

}  // namespace perftape::recover_tool
