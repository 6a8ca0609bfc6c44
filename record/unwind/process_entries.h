// SPDX-License-Identifier: Apache-2.0
// The executable mappings of all processes in the maps of the BPF programs.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "record/unwind/unwind_arena.h"
#include "record/unwind/unwind_maps.h"

namespace perftape::record {

// Not thread-safe. The programs read the maps at any time.
class ProcessEntries {
 public:
  // The memory of `maps` must outlive this object.
  explicit ProcessEntries(const UnwindMaps& maps);

  // Replaces the mappings of a process, which are sorted and do not overlap. Programs see either
  // the old or the new ones. Returns false if there is no room; the process has no entry then.
  // Times are CLOCK_MONOTONIC.
  bool Set(std::uint32_t tgid, std::span<const wire_unwind_mapping> mappings, std::uint64_t now_ns);
  void Remove(std::uint32_t tgid, std::uint64_t now_ns);

 private:
  struct Entry {
    std::uint32_t slot = 0;
    std::uint32_t first = 0, count = 0;
  };
  // The slot of a process in the map, which its word says, or a free one.
  std::uint64_t* SlotFor(std::uint32_t tgid);

  UnwindMaps maps_;
  UnwindArena arena_;
  std::unordered_map<std::uint32_t, Entry> entries_;  // by tgid
};

}  // namespace perftape::record
