// SPDX-License-Identifier: Apache-2.0
// Options that mean something only together with others: those of --switch-output and --flight,
// which write several files, and --wakers.
#pragma once

#include <vector>

#include "formats/base/result.h"
#include "record/events/event_spec.h"
#include "record/options.h"
#include "tools/record/command_line.h"

namespace perftape::record_tool {

// Sets RecordOptions::rotation and RecordOptions::flight. Fails with kInvalidArgument if -o is no
// pattern of names, or if options are given for files that are not written.
Status PlanFiles(const Plan& plan, record::RecordOptions& options);

// Adds the event of --wakers. Fails with kInvalidArgument if no waits are recorded.
Status AddWakers(std::vector<record::EventSpec>& events);

}  // namespace perftape::record_tool
