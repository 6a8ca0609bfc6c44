// SPDX-License-Identifier: Apache-2.0
// Recordings without privileges (Sampler::kKernel): who makes them, and what they cannot do. All
// messages name the remedy.
#pragma once

#include <string>

#include "formats/base/result.h"
#include "record/machine/system_facts.h"
#include "record/options.h"

namespace perftape::record {

// Whether this user cannot load BPF programs, but the kernel has perf events, which it allows users
// for user code of their own processes.
bool IsUserRecording(const SystemFacts& facts);

// Fails with kPermission for the first option or event that needs privileges, which the message
// names. Events that may be left out are checked when the recording starts.
Status CheckUserOptions(const RecordOptions& options, const SystemFacts& facts);

// Returns one line for the user: what is recorded, why no more, and what changes it.
std::string UserRecordingText(const RecordOptions& options, const SystemFacts& facts);

}  // namespace perftape::record
