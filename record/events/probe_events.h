// SPDX-License-Identifier: Apache-2.0
// Opens probes in the kernel: perf events of its PMUs "uprobe" and "kprobe" (Linux 4.17).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/base/result.h"
#include "record/probes/probe_spec.h"
#include "record/rings/cpu_events.h"

namespace perftape::record {

struct ProbeLocation {
  ProbeKind kind = ProbeKind::kUprobe;
  std::string target = {};             // the path of a file, or a function of the kernel
  std::uint64_t offset = 0;            // in the file, or from the start of the function
  std::uint64_t semaphore_offset = 0;  // in the file, of the listeners of a USDT probe; or 0

  bool operator==(const ProbeLocation&) const = default;
};

// Opens an event for each location. Its program runs on all CPUs, for all processes; `cpu` must be
// online. The event is disabled, but the kernel puts the breakpoint there at once.
//
// Fails with kPermission if the kernel refuses; the message names the capability. Fails with
// kUnsupported if the kernel has no such probes, or cannot place one there.
Result<std::vector<CpuEvent>> OpenProbes(std::span<const ProbeLocation> locations, int cpu);

// Opens a probe and closes it again. The errors are those of OpenProbes.
Status TryToProbe(const ProbeLocation& location);

// Returns why this kernel has no probes of this kind.
Status CheckProbeKind(ProbeKind kind);

}  // namespace perftape::record
