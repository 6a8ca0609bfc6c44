// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/hit_regions.h"

namespace perftape::record {

using perfdata::AddressSpace;
using perfdata::CpuMode;

void HitRegions::Collect(const perfdata::Sample& sample, CpuMode mode) {
  const AddressSpace* const kernel = &processes_.kernel();
  const AddressSpace* const user = &processes_.UserSpace(sample.pid);
  const AddressSpace* space = mode == CpuMode::kKernel ? kernel
                              : mode == CpuMode::kUser ? user
                                                       : nullptr;
  // Most frames are in the region of the frame before.
  std::uint64_t start = 0, size = 0;
  const auto visit = [&](std::uint64_t address) {
    if (space == nullptr || address - start < size) return;
    const SeenFrame& seen = Visit(*space, address);
    start = seen.start;
    size = seen.size;
  };
  visit(sample.ip);
  for (const std::uint64_t entry : sample.callchain) {
    if (entry < perfdata::kContextMax) {
      visit(entry);
      continue;
    }
    space = entry == perfdata::kContextKernel ? kernel
            : entry == perfdata::kContextUser ? user
                                              : nullptr;
    size = 0;
  }
}

const HitRegions::SeenFrame& HitRegions::Visit(const AddressSpace& space, std::uint64_t address) {
  // User mappings have whole pages; BPF programs in the kernel do not.
  const bool is_kernel = &space == &processes_.kernel();
  const std::uint64_t key = is_kernel ? address : address >> 12;
  const std::uint64_t mixed = (key + space.generation()) * 0x9e3779b97f4a7c15;
  SeenFrame& seen = seen_[(mixed >> 32) % kSeenFrames];
  if (seen.generation == space.generation() && seen.key == key) return seen;
  seen = {.generation = space.generation(), .key = key};
  if (const perfdata::Region* const region = space.Find(address)) {
    seen.start = region->start;
    seen.size = region->end - region->start;
    found_.push_back(region);
  }
  return seen;
}

}  // namespace perftape::record
