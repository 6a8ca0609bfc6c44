// SPDX-License-Identifier: Apache-2.0
#include "record/rings/ring_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "formats/base/counted.h"

namespace perftape::record {

RingPlan PlanRings(std::size_t cpus, std::uint64_t samples_per_second, std::uint32_t stack_bytes,
                   std::size_t least, std::optional<std::size_t> requested) {
  constexpr std::size_t kCpusOfARing = 8;
  const std::size_t most_of_a_cpu = std::size_t{stack_bytes != 0 ? 32U : 8U} << 20;
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 30;  // of any ring
  constexpr std::uint64_t kSeconds = 2, kSampleBytes = 1024;
  cpus = std::max<std::size_t>(cpus, 1);
  const std::size_t rings = std::bit_ceil((cpus + kCpusOfARing - 1) / kCpusOfARing);
  if (requested) return {.rings = rings, .bytes = *requested};
  const std::size_t cpus_of_a_ring = (cpus + rings - 1) / rings;
  const std::uint64_t most = std::min<std::uint64_t>(most_of_a_cpu * cpus_of_a_ring, kLargest);
  // Bounded first, so that the product cannot overflow.
  const std::uint64_t of_a_cpu = std::min<std::uint64_t>(samples_per_second, most_of_a_cpu) *
                                 kSeconds * (kSampleBytes + stack_bytes);
  const std::uint64_t bytes = std::clamp<std::uint64_t>(of_a_cpu * cpus_of_a_ring, least, most);
  return {.rings = rings, .bytes = std::bit_ceil(bytes)};
}

std::string RingPlanText(const RingPlan& plan) {
  constexpr std::size_t kKib = 1024, kMib = kKib * kKib;
  const bool is_large = plan.bytes >= kMib;
  return fmt::format("{} of {} {}", Counted(plan.rings, "ring buffer"),
                     plan.bytes / (is_large ? kMib : kKib), is_large ? "MiB" : "KiB");
}

}  // namespace perftape::record
