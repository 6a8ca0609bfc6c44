// SPDX-License-Identifier: Apache-2.0
#include "record/events/kernel_samples.h"

#include <algorithm>

#include "record/events/recorded_events.h"

namespace perftape::record {

bool KernelSamples::CountLost(std::uint32_t cpu, std::uint64_t records) {
  lost_.resize(std::max<std::size_t>(lost_.size(), cpu + std::size_t{1}));
  lost_[cpu].ring_full += records;
  return true;
}

std::vector<wire_cpu> KernelSamples::Counters(std::uint32_t event) const {
  return event == kFirstEvent ? lost_ : std::vector<wire_cpu>();
}

}  // namespace perftape::record
