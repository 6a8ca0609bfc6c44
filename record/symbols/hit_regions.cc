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
  SeenRegion last;
  const auto visit = [&](std::uint64_t address) {
    if (space != nullptr && !last.Contains(address)) last = Visit(*space, address);
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
    last = {};
  }
}

HitRegions::SeenRegion HitRegions::Visit(const AddressSpace& space, std::uint64_t address) {
  constexpr unsigned kNeighbours = 16;  // addresses that share an element, as a power of two
  const std::uint64_t mixed = ((address >> kNeighbours) + space.generation()) * 0x9e3779b97f4a7c15;
  SeenRegion& seen = seen_[(mixed >> 32) % kSeenRegions];
  if (seen.generation == space.generation() && seen.Contains(address)) return seen;
  const perfdata::Region* const region = space.Find(address);
  if (region == nullptr) return {};
  found_.push_back(region);
  seen = {.generation = space.generation(),
          .start = region->start,
          .size = region->end - region->start};
  return seen;
}

}  // namespace perftape::record
