// SPDX-License-Identifier: Apache-2.0
#include "convert/import/region_history.h"

#include <algorithm>
#include <utility>

namespace perftape::convert {

void RegionHistory::Note(std::uint32_t pid, Epoch epoch, const perfdata::AddressSpace& space) {
  Process& process = processes_[pid];
  if (process.fingerprint == space.fingerprint()) return;
  process.fingerprint = space.fingerprint();

  // Both lists are sorted by address.
  std::vector<Lifetime> mapped;
  auto old = process.mapped.begin();
  const auto end_old = [&](Lifetime& lifetime) {
    lifetime.to = epoch;
    if (lifetime.from < epoch) process.ended.push_back(lifetime);
  };
  space.ForEach([&](const perfdata::Region& region) {
    while (old != process.mapped.end() && old->region.start < region.start) end_old(*old++);
    if (old != process.mapped.end() && old->region == region) {
      mapped.push_back(*old++);
    } else {
      mapped.push_back({.region = region, .from = epoch});
    }
  });
  while (old != process.mapped.end()) end_old(*old++);
  process.mapped = std::move(mapped);
}

std::vector<perfdata::Region> RegionHistory::At(std::uint32_t pid, Epoch epoch) const {
  std::vector<perfdata::Region> regions;
  const auto process = processes_.find(pid);
  if (process == processes_.end()) return regions;
  for (const Lifetime& lifetime : process->second.ended) {
    if (lifetime.from <= epoch && epoch < lifetime.to) regions.push_back(lifetime.region);
  }
  for (const Lifetime& lifetime : process->second.mapped) {
    if (lifetime.from <= epoch) regions.push_back(lifetime.region);
  }
  std::ranges::sort(regions, {}, &perfdata::Region::start);
  return regions;
}

}  // namespace perftape::convert
