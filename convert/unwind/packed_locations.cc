// SPDX-License-Identifier: Apache-2.0
#include "convert/unwind/packed_locations.h"

#include <cassert>

#include "formats/perfdata/mapping_name.h"

namespace perftape::offline_unwind {

std::optional<PackedLocations::MappingIndex> PackedLocations::Add(const perfdata::Region& region) {
  const bool is_memory = perfdata::IsIdentifiedByAddress(region.dso->path);
  return Add(
      {region.dso, region.page_offset, region.end - region.start, is_memory ? region.start : 0},
      region);
}

std::optional<PackedLocations::MappingIndex> PackedLocations::AddUnmapped(std::uint64_t address) {
  return Add({nullptr, 0, address, 0}, {.start = address, .end = address, .dso = nullptr});
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
  const auto index = static_cast<MappingIndex>((word & ~kOuterInstruction) >> kDistanceBits);
  assert(index < mappings_.size());
  const perfdata::Region& region = mappings_[index];
  const std::uint64_t distance = word & ((std::uint64_t{1} << kDistanceBits) - 1);
  return {.region = region,
          .address = region.start + distance,
          .is_outer_instruction = (word & kOuterInstruction) != 0};
}

}  // namespace perftape::offline_unwind
