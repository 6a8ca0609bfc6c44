// SPDX-License-Identifier: Apache-2.0
// The frames of unwound stacks without the addresses at which their process mapped them. A packed
// location is one word: the index of a mapping and a distance from its start. Processes map a
// binary at different addresses, but their equal stacks have equal packed locations. So most stacks
// are resolved once instead of once per process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <vector>

#include "formats/perfdata/address_space.h"

namespace perftape::offline_unwind {

// Threads may share it.
class PackedLocations {
 public:
  // The number of a mapping that Pack needs.
  using MappingIndex = std::uint32_t;

  // Adds a mapped range, whose dso must outlive this object. Mappings of the same bytes of a file
  // are one, in any process at any address; those of memory without a file only at one address
  // (perfdata::IsIdentifiedByAddress). Nothing if there are too many.
  std::optional<MappingIndex> Add(const perfdata::Region& region);
  // Adds an address at which nothing is mapped.
  std::optional<MappingIndex> AddUnmapped(std::uint64_t address);

  // Returns the word for an address, at `distance` from the start of the mapping. Nothing if the
  // distance is too large. A word is never a context marker (PERF_CONTEXT_*).
  static std::optional<std::uint64_t> Pack(MappingIndex mapping, std::uint64_t distance) {
    if (distance >> kDistanceBits != 0) return std::nullopt;
    return std::uint64_t{mapping} << kDistanceBits | distance;
  }

  struct Unpacked {
    // The region of the process that has the mapping at the lowest address. The dso is null if
    // nothing is mapped there.
    perfdata::Region region;
    std::uint64_t address = 0;  // in `region`
    bool is_outer_instruction = false;
  };
  // Returns the word for an instruction that has callees but no return address
  // (perfdata::FoundBy::kOuterInstruction).
  static std::uint64_t AsOuterInstruction(std::uint64_t word) { return word | kOuterInstruction; }

  // Returns the location of a word from Pack. Call it after the last Add.
  Unpacked Unpack(std::uint64_t word) const;

 private:
  static constexpr unsigned kDistanceBits = 40;
  static constexpr std::size_t kMostMappings = std::size_t{1} << 22;
  static constexpr std::uint64_t kOuterInstruction = std::uint64_t{1} << 62;

  // The dso, offset and size, and the address of memory without a file. Of an unmapped address
  // null, 0, the address and 0.
  using Key = std::tuple<const perfdata::Dso*, std::uint64_t, std::uint64_t, std::uint64_t>;
  std::optional<MappingIndex> Add(const Key& key, const perfdata::Region& region);

  std::mutex mutex_;
  std::map<Key, MappingIndex> indexes_;
  std::vector<perfdata::Region> mappings_;
};

}  // namespace perftape::offline_unwind
