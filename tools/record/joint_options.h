// SPDX-License-Identifier: Apache-2.0
// Options that mean something only together with others: those of --switch-output and --flight,
// which write several files, and --wakers and --why, which add events.
#pragma once

#include "formats/base/result.h"
#include "record/options.h"
#include "tools/record/command_line.h"

namespace perftape::record_tool {

// Sets RecordOptions::rotation and RecordOptions::flight. Fails with kInvalidArgument if -o is no
// pattern of names, or if options are given for files that are not written.
Status PlanFiles(const Plan& plan, record::RecordOptions& options);

// Sets the rate and the threshold, and adds the events of --why and --wakers. Fails with
// kInvalidArgument for --wakers without waits, and for --why without call chains.
Status PlanEvents(const Plan& plan, record::InputOptions& input);

}  // namespace perftape::record_tool
