// SPDX-License-Identifier: Apache-2.0
// Options that mean something only together with others: those of --switch-output and --flight,
// which write several files, and --wakers and --why, which add events.
#pragma once

#include "formats/base/result.h"
#include "record/recorder_options.h"
#include "tools/record/command_line.h"

namespace perftape::record_tool {

// Sets RecordOptions::rotation and RecordOptions::flight. Fails with kInvalidArgument if -o is no
// pattern of names, or if options are given for files that are not written.
Status PlanFiles(const Plan& plan, record::RecordOptions& options);

// Adds the events of --why and --wakers, and sets the rate and the threshold of --why. Fails with
// kInvalidArgument for --wakers without waits, for --why without call chains, and for --interval
// without latency probes.
Status PlanEvents(Plan& plan);

}  // namespace perftape::record_tool
