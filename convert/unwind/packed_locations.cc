// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/packed_locations.h"

#include <cassert>

namespace perftape::offline_unwind {

std::optional<PackedLocations::MappingIndex> PackedLocations::Add(const perfdata::Region& region) {
  return Add({region.dso, region.page_offset, region.end - region.start}, region);
}

std::optional<PackedLocations::MappingIndex> PackedLocations::AddUnmapped(std::uint64_t address) {
  return Add({nullptr, 0, address}, {.start = address, .end = address, .dso = nullptr});
}

std::optional<PackedLocations::MappingIndex> PackedLocations::Add(const Key& key,
                                                                  const perfdata::Region& region) {
  const std::lock_guard lock(mutex_);
  const auto next = static_cast<MappingIndex>(mappings_.size());
  if (next == kMostMappings && !indexes_.contains(key)) return std::nullopt;
  const MappingIndex index = indexes_.try_emplace(key, next).first->second;
  if (index == next) {
    mappings_.push_back(region);
  } else if (region.start < mappings_[index].start) {
    mappings_[index] = region;
  }
  return index;
}

PackedLocations::Unpacked PackedLocations::Unpack(std::uint64_t word) const {
  const auto index = static_cast<MappingIndex>(word >> kDistanceBits);
  assert(index < mappings_.size());
  const perfdata::Region& region = mappings_[index];
  const std::uint64_t distance = word & ((std::uint64_t{1} << kDistanceBits) - 1);
  return {.region = region, .address = region.start + distance};
}

}  // namespace perftape::offline_unwind
