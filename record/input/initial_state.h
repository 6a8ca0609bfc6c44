// SPDX-License-Identifier: Apache-2.0
// The records at the start of a file. They describe what is already running, so that the samples
// after them have names.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "record/events/recorded_events.h"
#include "record/machine/loaded_bpf_programs.h"
#include "record/processes/proc_snapshot.h"
#include "record/processes/targets.h"
#include "record/scope/scope.h"

namespace perftape::record {

// Returns ID_INDEX, the mappings of the kernel, `programs`, the cgroups if samples contain theirs,
// the processes of the targets (or all) with `content`, and FINISHED_INIT. Adds a warning for each
// part that cannot be read.
Result<std::vector<std::byte>> EncodeInitialState(const RecordedEvents& events,
                                                  const Targets& targets, const Scope& scope,
                                                  const SnapshotContent& content,
                                                  std::span<const BpfProgram> programs,
                                                  std::vector<std::string>& warnings);

}  // namespace perftape::record
