// SPDX-License-Identifier: Apache-2.0
// Finds the rules that unwind an instruction: those of a binary that a process has mapped, or those
// of code that was compiled at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "convert/unwind/binary_tables.h"
#include "convert/unwind/packed_locations.h"
#include "formats/base/addresses.h"
#include "formats/perfdata/address_space.h"
#include "formats/unwind/rule.h"
#include "formats/unwind/rule_cache.h"
#include "formats/unwind/stack_walk.h"
#include "formats/unwind/table.h"

namespace perftape::offline_unwind {

// How code that was compiled at run time is unwound, if its compiler has described it (in a
// jitdump): by process, time and address. Threads may share it after Finish().
class CompiledRules {
 public:
  struct Placement {
    std::uint32_t pid = 0;
    std::uint64_t start = 0, end = 0;  // the addresses of the code
    std::uint32_t from_epoch = 0;      // it is there from this epoch on, or until it is replaced
    const unwind::Table* table = nullptr;  // must outlive this object
    ImageAddress image;                    // of `start` in the table
  };
  void Add(const Placement& placement) { placements_[placement.pid].push_back(placement); }
  // Sorts them. Call it once, after the last Add.
  void Finish();

  bool empty() const { return placements_.empty(); }
  // Returns the rule at an address of a process, as it is at an epoch. Null if the code is not
  // described. Lives as long as the tables.
  const unwind::Rule* Find(std::uint32_t pid, std::uint32_t epoch, RuntimeAddress address) const;

 private:
  std::unordered_map<std::uint32_t, std::vector<Placement>> placements_;  // by pid
};

// Returns the table of a mapped file.
using TableFinder = std::function<const BinaryTable&(const perfdata::Dso& dso)>;

// What is mapped at an address.
struct FoundCode {
  unwind::Code code;
  std::optional<std::uint64_t> packed;  // the location, if something is mapped and it can be packed
};

// The code of one process at one time: which table describes the instruction at an address. For one
// thread.
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
