// SPDX-License-Identifier: Apache-2.0
// The unwind tables in the maps of the BPF programs. If the memory is full, tables that no sample
// has hit for a while are replaced by those that samples hit now.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "formats/unwind/table.h"
#include "record/bpf/unwind_maps.h"
#include "record/unwind/shared_rules.h"
#include "record/unwind/unwind_arena.h"

namespace perftape::record {

// Not thread-safe. The programs read the maps at any time.
class TableStore {
 public:
  // A table that was hit within this time stays in the maps.
  static constexpr std::uint64_t kIdleNs = 1'000'000'000;

  // The memory of `maps` must outlive this object.
  explicit TableStore(const UnwindMaps& maps);

  // Returns the index of the table in the maps, which the table keeps until Forget; nothing if no
  // index is left. Its rows may be loaded later, when there is room (LoadMissing).
  std::optional<std::uint32_t> Add(unwind::Table table, std::uint64_t now_ns);
  // No mapping uses this index any more. After kIdleNs, another table can get it.
  void Forget(std::uint32_t index, std::uint64_t now_ns);

  // Loads tables that samples have hit while they were not in the maps, and removes others for
  // them. Call it every now and then. Times are CLOCK_MONOTONIC.
  void LoadMissing(std::uint64_t now_ns);

 private:
  struct Entry {
    unwind::Table table;
    std::uint32_t first = 0, cells = 0;     // in the maps; 0 cells if it is not
    std::vector<std::uint32_t> rules = {};  // the numbers of its rules in the maps
    std::uint64_t removed_ns = 0;           // 0: it never was
  };
  std::optional<std::uint32_t> FreeIndexAt(std::uint64_t now_ns);
  bool Load(std::uint32_t index, std::uint64_t now_ns);
  void Write(const Entry& entry, std::span<wire_unwind_cell> cells);
  void MakeRoom(std::uint32_t cells, std::uint64_t now_ns);
  void Remove(std::uint32_t index, std::uint64_t now_ns);
  std::uint64_t LastHit(std::uint32_t index) const;

  UnwindMaps maps_;
  UnwindArena arena_;
  std::vector<Entry> entries_;
  struct FreeIndex {
    std::uint32_t index = 0;
    std::uint64_t since_ns = 0;
  };
  std::deque<FreeIndex> free_;  // in the order of their times
  SharedRules rules_;
  std::uint32_t last_load_ = 0;  // wire_unwind_table.load
};

}  // namespace perftape::record
