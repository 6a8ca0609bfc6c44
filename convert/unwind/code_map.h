// SPDX-License-Identifier: Apache-2.0
// The code of one process at one time: which table describes the instruction at an address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "convert/unwind/binary_tables.h"
#include "formats/base/addresses.h"
#include "formats/perfdata/address_space.h"
#include "formats/unwind/stack_walk.h"

namespace perftape::offline_unwind {

// Returns the table of a mapped file.
using TableFinder = std::function<const BinaryTable&(const perfdata::Dso& dso)>;

// For one thread.
class CodeMap {
 public:
  // `regions` are sorted by address and do not overlap. Their dsos and the tables must outlive this
  // object.
  explicit CodeMap(std::span<const perfdata::Region> regions);

  // Asks `find` when the first address in a region is looked up.
  unwind::Code Find(RuntimeAddress address, const TableFinder& find);

 private:
  struct MappedCode {
    perfdata::Region region;
    const BinaryTable* table = nullptr;  // null until it is needed
    // What to subtract from an address to get that in the binary's image. Wraps around.
    std::uint64_t bias = 0;
  };

  std::vector<MappedCode> code_;
  std::size_t last_ = 0;  // the region of the last address; most callers are in the same one
};

}  // namespace perftape::offline_unwind
