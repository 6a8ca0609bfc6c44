// SPDX-License-Identifier: Apache-2.0
// Latency probes as the settings of their programs (bpf/wire.h).
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "bpf/wire.h"
#include "formats/base/result.h"
#include "record/bpf/bpf_session.h"

namespace perftape::record {

// Returns the slot of a probe; nothing for a probe of system calls, which has no slot of its own.
std::optional<std::uint32_t> LatencySlotOf(std::string_view probe);

// Fails with kInvalidArgument if `probes` of system calls are too many, or one is of a system call
// that does not exist.
Result<wire_latency_settings> LatencySettings(std::span<const BpfEvent> events);

// Fails with kUnsupported if this machine cannot record the probe; the message says what is
// missing.
Status CheckLatencySupport(std::string_view probe);

}  // namespace perftape::record
