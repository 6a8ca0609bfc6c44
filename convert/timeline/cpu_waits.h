// SPDX-License-Identifier: Apache-2.0
// Which threads used the CPUs that other threads waited for.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "convert/timeline/critical_path.h"
#include "convert/timeline/timeline.h"

namespace perftape::timeline {

// A time in which a thread waited for a CPU.
struct CpuWait {
  Span time;
  std::uint32_t thread = kNone;  // index in Timeline::threads()
  std::uint32_t sample = kNone;  // of the wait: it has the CPU; kNone: unknown
};

std::vector<CpuWait> CpuWaitsOf(const CriticalPath& path);
// Those of all threads.
std::vector<CpuWait> CpuWaitsOf(const Timeline& timeline);

// The CPU time of another thread while threads waited for its CPU.
struct RanInstead {
  std::string comm;
  std::int64_t ns = 0;  // by the periods of the samples
};

struct CpuUse {
  std::int64_t waited_ns = 0;
  std::vector<RanInstead> ran;  // the largest first
  // The part of waited_ns in which no recorded thread ran on the CPU, so a program that was not
  // recorded did. 0 if chance could explain the difference, because `ran` is computed from samples,
  // or if no samples show what ran.
  std::int64_t not_recorded_ns = 0;
};

CpuUse UseOfCpus(const Timeline& timeline, std::span<const CpuWait> waits);

}  // namespace perftape::timeline
