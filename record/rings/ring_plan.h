// SPDX-License-Identifier: Apache-2.0
// How many ring buffers a recording has, and how large they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace perftape::record {

struct RingPlan {
  std::size_t rings = 1;  // a power of two; CPU n sends to ring n modulo this number
  std::size_t bytes = 0;  // of each; a power of two
};

// Plans for `cpus` CPUs, each with `samples_per_second`. Up to eight CPUs share a ring, because
// senders to one wait for each other. A ring holds two seconds of samples of a kilobyte and
// `stack_bytes`, at least `least`, at most 8 MiB for each CPU, with stacks 32 MiB. `requested` is
// the size of each ring instead.
RingPlan PlanRings(std::size_t cpus, std::uint64_t samples_per_second, std::uint32_t stack_bytes,
                   std::size_t least, std::optional<std::size_t> requested);

inline constexpr std::size_t kLeastRing = std::size_t{1} << 20;
// With unwind tables: half of it is for copies of stacks whose tables are not loaded yet.
inline constexpr std::size_t kLeastUnwindRing = std::size_t{4} << 20;

// Returns "8 ring buffers of 16 MiB".
std::string RingPlanText(const RingPlan& plan);

}  // namespace perftape::record
