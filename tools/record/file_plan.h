// SPDX-License-Identifier: Apache-2.0
// The options of recordings that write several files: --switch-output and --flight.
#pragma once

#include "formats/base/result.h"
#include "record/options.h"
#include "tools/record/command_line.h"

namespace perftape::record_tool {

// Sets RecordOptions::rotation and RecordOptions::flight. Fails with kInvalidArgument if -o is no
// pattern of names, or if options are given for files that are not written.
Status PlanFiles(const Plan& plan, record::RecordOptions& options);

}  // namespace perftape::record_tool
