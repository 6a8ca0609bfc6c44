// SPDX-License-Identifier: Apache-2.0
// Returns the result of a recording as one JSON object and a line end. The man page lists its
// members.
#pragma once

#include <string>

#include "record/recorder.h"

namespace perftape::record_tool {

std::string SummaryJson(const record::RecordSummary& summary, int exit_status);

}  // namespace perftape::record_tool
