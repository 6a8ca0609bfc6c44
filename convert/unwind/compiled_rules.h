// SPDX-License-Identifier: Apache-2.0
// How code that was compiled at run time is unwound, if its compiler has described it (in a
// jitdump): by process, time and address.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/unwind/rule.h"
#include "formats/unwind/table.h"

namespace perftape::offline_unwind {

// Threads may share it after Finish().
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

}  // namespace perftape::offline_unwind
