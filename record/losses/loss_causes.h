// SPDX-License-Identifier: Apache-2.0
// The causes of losses: their keys in JSON, and what they mean.
#pragma once

#include <cstdint>
#include <string_view>

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
     "the kernel skipped them while other programs used BPF; ending those helps, or 'perf record'"},
    {&LossByCpu::late, "late", "the timer could not keep up; a lower rate (-F) helps"},
    {&LossByCpu::unexplained, "unexplained",
     "throttled, skipped or late; Linux 6.2 and later report which"},
};

// Others, of unknown event and CPU.
inline constexpr std::string_view kDamaged = "damaged";      // between kernel and recorder
inline constexpr std::string_view kUnwritten = "unwritten";  // no space was left in the file
// Of process events: a ring of the kernel was full.
inline constexpr std::string_view kSidebandRing = "sideband_ring";

}  // namespace perftape::record
