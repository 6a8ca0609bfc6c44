// SPDX-License-Identifier: Apache-2.0
// Recordings without privileges (Sampler::kKernel): when they are made, and what they cannot
// record. All messages name the remedy.
#pragma once

#include <string>

#include "formats/base/result.h"
#include "record/machine/system_facts.h"
#include "record/recorder_options.h"

namespace perftape::record {

// Whether this user cannot load BPF programs, but the kernel has perf events. The kernel allows
// users to record user code of their own processes with them.
bool IsUserRecording(const SystemFacts& facts);

// Fails with kPermission for the first option or event that needs privileges, which the message
// names. Events that may be left out are checked when the recording starts.
Status CheckUserOptions(const RecordOptions& options, const SystemFacts& facts);

// Returns one line for the user: what is recorded, why nothing more, and what to do about it.
std::string UserRecordingText(const RecordOptions& options, const SystemFacts& facts);

}  // namespace perftape::record
