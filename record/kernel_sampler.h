// SPDX-License-Identifier: Apache-2.0
// Recordings whose samples the kernel itself makes, without BPF programs: when they are made, and
// what they cannot record. All messages name the remedy.
#pragma once

#include <cstdint>
#include <string>

#include "formats/base/result.h"
#include "record/machine/system_facts.h"
#include "record/recorder_options.h"

namespace perftape::record {

// What the user asks for.
enum class SamplerRequest : std::uint8_t {
  kAuto,      // BPF programs where they can be loaded, else the kernel
  kPrograms,  // BPF programs
  kKernel,    // the kernel itself
};

// Returns the sampler of a recording. The kernel records all code if the user has CAP_PERFMON, or
// if kernel.perf_event_paranoid is at most 0, and otherwise user code of the user's own processes
// (Documentation/admin-guide/sysctl/kernel.rst). Without perf events, kAuto is kPrograms.
Sampler SamplerFor(SamplerRequest request, const SystemFacts& facts);

// Fails with kPermission for the first option or event that `sampler`, which is the kernel, cannot
// record. The message names it. Events that may be left out are checked when the recording starts.
Status CheckKernelOptions(const RecordOptions& options, Sampler sampler, const SystemFacts& facts);

// Returns one line for the user: what is recorded, why nothing more, and what to do about it.
std::string KernelSamplerText(const RecordOptions& options, Sampler sampler,
                              const SystemFacts& facts);

}  // namespace perftape::record
