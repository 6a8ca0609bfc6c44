// SPDX-License-Identifier: Apache-2.0
// The code of one process at one time: which table describes the instruction at an address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "convert/unwind/binary_tables.h"
#include "convert/unwind/packed_locations.h"
#include "formats/base/addresses.h"
#include "formats/perfdata/address_space.h"
#include "formats/unwind/rule_cache.h"
#include "formats/unwind/stack_walk.h"

namespace perftape::offline_unwind {

// Returns the table of a mapped file.
using TableFinder = std::function<const BinaryTable&(const perfdata::Dso& dso)>;

// What is mapped at an address.
struct FoundCode {
  unwind::Code code;
  std::optional<std::uint64_t> packed;  // the location, if something is mapped and it can be packed
};

// For one thread.
class CodeMap {
 public:
  // `regions` are sorted by address and do not overlap. Their dsos and the tables must outlive this
  // object. `locations` may be null.
  CodeMap(std::span<const perfdata::Region> regions, PackedLocations* locations);

  // Sets `found`, which is faster than returning it. Asks `find` when the first address in a region
  // is looked up.
  void Find(RuntimeAddress address, const TableFinder& find, unwind::RuleCache& rules,
            FoundCode& found);

 private:
  struct MappedCode {
    perfdata::Region region;
    const BinaryTable* table = nullptr;  // null until it is needed
    // What to subtract from an address to get that in the binary's image. Wraps around.
    std::uint64_t bias = 0;
    std::optional<PackedLocations::MappingIndex> mapping = {};
  };

  // Returns the code of the region that has the address, or null.
  MappedCode* CodeAt(std::uint64_t address, const TableFinder& find);

  std::vector<MappedCode> code_;
  PackedLocations* locations_;
  std::size_t last_ = 0;  // the region of the last address; most callers are in the same one
};

}  // namespace perftape::offline_unwind
