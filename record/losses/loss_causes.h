// SPDX-License-Identifier: Apache-2.0
// The causes of losses, and where user call chains ended: their keys in JSON, and what they mean.
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <string_view>

#include "bpf/unwind_wire.h"
#include "record/losses/loss_ledger.h"

namespace perftape::record {

struct LossCause {
  std::uint64_t LossByCpu::*samples;
  std::string_view key;
  std::string_view text;  // the cause, and a remedy
};

// The causes that are counted by CPU.
inline constexpr LossCause kLossCauses[] = {
    {&LossByCpu::ring_full, "ring_full",
     "the ring was full; a larger one (-m) or a lower rate (-F) helps"},
    {&LossByCpu::no_scratch, "no_scratch", "a sample interrupted another"},
    {&LossByCpu::throttled, "throttled",
     "the kernel throttled the timer; a lower rate (-F) or a higher "
     "kernel.perf_event_max_sample_rate helps"},
    {&LossByCpu::skipped, "skipped",
     "the kernel skipped them while other programs used BPF; end those programs, or use 'perf "
     "record'"},
    {&LossByCpu::late, "late", "the timer could not keep up; a lower rate (-F) helps"},
    {&LossByCpu::unexplained, "unexplained",
     "throttled, skipped or late; Linux 6.2 and later report which"},
};

// Other causes; event and CPU are unknown.
inline constexpr std::string_view kDamaged = "damaged";      // between kernel and recorder
inline constexpr std::string_view kUnwritten = "unwritten";  // no space was left in the file
// Lost process events: a ring of the kernel was full.
inline constexpr std::string_view kSidebandRing = "sideband_ring";

// Where a call chain that was found by unwind tables ended.
struct ChainEnd {
  wire_unwind_end end;
  const char* text;  // in the summary
  const char* key;   // in JSON
};

// All ends of chains that are not complete. WIRE_END_OF_STACK is bundle::kCompleteChain.
inline constexpr ChainEnd kIncompleteEnds[] = {
    {WIRE_END_NO_PROCESS, "of a process that had just started", "no_process"},
    {WIRE_END_NO_MAPPING, "no mapping", "no_mapping"},
    {WIRE_END_NO_TABLE, "no table", "no_table"},
    {WIRE_END_NO_ROW, "no row", "no_row"},
    {WIRE_END_UNREADABLE, "stack not readable", "unreadable"},
    {WIRE_END_NO_PROGRESS, "no progress", "no_progress"},
    {WIRE_END_TOO_DEEP, "too deep", "too_deep"},
    {WIRE_END_COMPAT, "32-bit", "32_bit"},
    {WIRE_END_NO_FRAME_POINTER, "no frame pointer in code made at run time", "no_frame_pointer"},
};

}  // namespace perftape::record
