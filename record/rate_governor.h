// SPDX-License-Identifier: Apache-2.0
// Lowers the rate of sampling while the recorder uses too much CPU time (--max-cpu).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/bundle/recording_notes.h"

namespace perftape::record {

// Not thread-safe.
class RateGovernor {
 public:
  // The recorder may use `max_percent` of one CPU. Sampling starts at `now_ns` at the full rate;
  // `cpu_ns` is the CPU time that the recorder has used before.
  RateGovernor(double max_percent, std::uint64_t now_ns, std::uint64_t cpu_ns);

  // Call it after each round. Once a second, compares the CPU time used with the limit. If the rate
  // must change, returns the new divisor N: only one in N hits is a sample. The rate rises again
  // after five seconds below a quarter of the limit.
  std::optional<std::uint64_t> Check(std::uint64_t now_ns, std::uint64_t cpu_ns);

  // The rate at the start and its changes.
  const std::vector<bundle::NotedRate>& rates() const { return rates_; }

 private:
  double max_percent_;
  std::uint64_t checked_ns_, checked_cpu_ns_;
  int cheap_checks_ = 0;
  std::vector<bundle::NotedRate> rates_;
};

}  // namespace perftape::record
