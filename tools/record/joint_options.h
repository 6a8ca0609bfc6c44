// SPDX-License-Identifier: Apache-2.0
// Options that mean something only together with others: those of --switch-output and --flight,
// which write several files, --wakers and --why, which add events, and some of perf's.
#pragma once

#include "formats/base/result.h"
#include "record/recorder_options.h"
#include "tools/record/command_line.h"

namespace perftape::record_tool {

// Sets RecordOptions::rotation and RecordOptions::flight. Fails with kInvalidArgument if -o is no
// pattern of names, or if options are given for files that are not written.
Status PlanFiles(const Plan& plan, record::RecordOptions& options);

// Adds the events of --why, --wakers and --off-cpu, sets the rate and the threshold of --why, and
// applies --all-user and --all-kernel. Fails with kInvalidArgument for --wakers without waits, for
// --why without call chains, for --interval without latency probes, and for --all-user with events
// that only the kernel has.
Status PlanEvents(Plan& plan);

// Applies the options of perf that set what other options set, too. Call it after
// FinishRecordingOptions.
void PlanPerfOptions(Plan& plan);

}  // namespace perftape::record_tool
