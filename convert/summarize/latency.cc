// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/latency.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>

namespace perftape::summarize {
namespace {

LatencyAmount Join(const Amount& latency, const Amount& parallelism) {
  const bool has_samples = parallelism.samples != 0;
  return {.latency = latency,
          .parallelism = has_samples ? static_cast<double>(parallelism.weight) /
                                           static_cast<double>(parallelism.samples)
                                     : 0};
}

// Returns the amounts of each function, by FrameId.
std::vector<FunctionAmounts> ByFrame(const convert::Profile& profile,
                                     const convert::FrameTable& frames,
                                     const StackAmounts& amounts) {
  std::vector<FunctionAmounts> by_frame(frames.size());
  for (const FunctionAmounts& function : SumFunctions(profile, frames, amounts)) {
    by_frame[function.frame] = function;
  }
  return by_frame;
}

}  // namespace

Latency SumLatency(const convert::Profile& profile, const convert::FrameTable& frames,
                   convert::EventId event, SortBy sort, std::vector<FunctionAmounts>& functions) {
  const StackAmounts latency(profile, event, Weight::kLatency);
  const StackAmounts parallelism(profile, event, Weight::kParallelism);
  const std::vector<FunctionAmounts> latencies = ByFrame(profile, frames, latency);
  const std::vector<FunctionAmounts> parallelisms = ByFrame(profile, frames, parallelism);
  std::vector<std::pair<FunctionAmounts, FunctionLatency>> joined;
  for (const FunctionAmounts& function : functions) {
    const FunctionAmounts& of_latency = latencies[function.frame];
    const FunctionAmounts& of_parallelism = parallelisms[function.frame];
    joined.emplace_back(
        function,
        FunctionLatency{.self = Join(of_latency.self, of_parallelism.self),
                        .inclusive = Join(of_latency.inclusive, of_parallelism.inclusive)});
  }
  std::ranges::stable_sort(joined, std::greater(),
                           [sort](const auto& one) { return one.second.By(sort).latency.weight; });
  Latency sums = {.total = Join(latency.total(), parallelism.total()), .functions = {}};
  for (std::size_t i = 0; i < joined.size(); ++i) {
    functions[i] = joined[i].first;
    sums.functions.push_back(joined[i].second);
  }
  return sums;
}

}  // namespace perftape::summarize
