// SPDX-License-Identifier: Apache-2.0
// perftape-record's options, and the recording that they ask for.
#pragma once

#include "record/recorder.h"
#include "tools/common/cli/options.h"

namespace perftape::record_tool {

const cli::Command& RecordCommand();

// kInvalidArgument for usage errors. RecordOptions::command_line is left empty: it is the
// process's, not the options'.
Result<record::RecordOptions> PlanOf(const cli::Parsed& parsed);

}  // namespace perftape::record_tool
