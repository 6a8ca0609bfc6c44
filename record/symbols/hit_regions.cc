// SPDX-License-Identifier: Apache-2.0
#include "record/symbols/hit_regions.h"

namespace perftape::record {

using perfdata::CpuMode;

void HitRegions::Collect(const perfdata::Sample& sample, CpuMode mode) {
  Visit(sample.pid, mode, sample.ip);
  for (const std::uint64_t entry : sample.callchain) {
    if (entry < perfdata::kContextMax) {
      Visit(sample.pid, mode, entry);
    } else {
      mode = entry == perfdata::kContextKernel ? CpuMode::kKernel
             : entry == perfdata::kContextUser ? CpuMode::kUser
                                               : CpuMode::kUnknown;
    }
  }
}

void HitRegions::Visit(std::uint32_t pid, CpuMode mode, std::uint64_t address) {
  if (mode != CpuMode::kKernel && mode != CpuMode::kUser) return;
  const bool is_kernel = mode == CpuMode::kKernel;
  const perfdata::AddressSpace& space = is_kernel ? processes_.kernel() : processes_.UserSpace(pid);
  // User mappings have whole pages; BPF programs in the kernel do not.
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
