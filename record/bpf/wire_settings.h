// SPDX-License-Identifier: Apache-2.0
// The options of a recording as the settings of the programs (bpf/wire.h).
#pragma once

#include <linux/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "bpf/wire.h"
#include "record/bpf/bpf_session.h"

namespace perftape::record {

// Whether an event has this cause.
bool Needs(const BpfOptions& options, SampleCause cause);

// Returns after how many bytes of messages a ring wakes its reader: a sixteenth of it, but at least
// 64 KiB or half of it, and at most 1 MiB.
std::size_t WakeupBytes(std::size_t ring_bytes);

// The filter of a program for the event number `event`, or, with WIRE_EVENT_OF_COOKIE, for several
// events. `cpus` is the number of possible CPUs.
wire_filter WireFilter(const BpfOptions& options, std::uint32_t event, std::size_t cpus);

// How many stacks of waiting threads are kept (OffCpuPrograms, LatencyPrograms).
std::uint32_t StoredStacks(const BpfOptions& options);

// The settings of the programs that measure waits; nothing if no event measures waits.
std::optional<wire_off_cpu> OffCpuSettings(const BpfOptions& options);

}  // namespace perftape::record
