// SPDX-License-Identifier: Apache-2.0
// Facts from the samples of a profile: slow and failed calls, kills for lack of memory, peers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "convert/diagnose/facts.h"

namespace perftape::diagnose {

// The tracepoints that the facts have beside the latency probes.
inline constexpr std::string_view kOomEvent = "oom:mark_victim";
inline constexpr std::string_view kRetransmissionEvent = "tcp:tcp_retransmit_skb";
inline constexpr std::string_view kResetReceivedEvent = "tcp:tcp_receive_reset";
inline constexpr std::string_view kResetSentEvent = "tcp:tcp_send_reset";

// Adds slow_calls, the slowest first, oom_kills and peers to `facts`, which must have the cgroups.
void AddSamples(const convert::Profile& profile, Facts& facts);

}  // namespace perftape::diagnose
