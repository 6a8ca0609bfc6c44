// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/hit_regions.h"

namespace perftape::record {

using perfdata::AddressSpace;
using perfdata::CpuMode;

void HitRegions::Collect(const perfdata::Sample& sample, CpuMode mode) {
  const AddressSpace& kernel = processes_.kernel();
  const AddressSpace& user = processes_.UserSpace(sample.pid);
  const AddressSpace* space = mode == CpuMode::kKernel ? &kernel
                              : mode == CpuMode::kUser ? &user
                                                       : nullptr;
  if (space != nullptr) Visit(*space, sample.ip);
  for (const std::uint64_t entry : sample.callchain) {
    if (entry < perfdata::kContextMax) {
      if (space != nullptr) Visit(*space, entry);
    } else {
      space = entry == perfdata::kContextKernel ? &kernel
              : entry == perfdata::kContextUser ? &user
                                                : nullptr;
    }
  }
}

void HitRegions::Visit(const AddressSpace& space, std::uint64_t address) {
  // User mappings have whole pages; BPF programs in the kernel do not.
  const bool is_kernel = &space == &processes_.kernel();
  if (!IsNew(space.generation(), is_kernel ? address : address >> 12)) return;
  if (const perfdata::Region* const region = space.Find(address)) found_.push_back(region);
}

bool HitRegions::IsNew(std::uint64_t generation, std::uint64_t key) {
  const std::uint64_t mixed = (key + generation) * 0x9e3779b97f4a7c15;
  SeenFrame& seen = seen_[(mixed >> 32) % kSeenFrames];
  if (seen.generation == generation && seen.key == key) return false;
  seen = {generation, key};
  return true;
}

}  // namespace perftape::record
