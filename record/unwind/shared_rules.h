// SPDX-License-Identifier: Apache-2.0
// The rules of all unwind tables in the maps of the BPF programs, each stored once. The number of a
// rule that no table uses any more can be given to another rule.
#pragma once

#include <linux/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "bpf/unwind_wire.h"
#include "formats/unwind/rule.h"

namespace perftape::record {

// Not thread-safe. The programs read the rules at any time.
class SharedRules {
 public:
  // The number of a rule kNone, and of each rule for which there was no room.
  static constexpr std::uint32_t kNone = 0;

  // The memory of `rules` must outlive this object.
  explicit SharedRules(std::span<wire_unwind_rule> rules);

  // Returns the number of a rule. The rule keeps it until Release was called as often as Acquire.
  // Times are CLOCK_MONOTONIC.
  std::uint32_t Acquire(const unwind::Rule& rule, std::uint64_t now_ns);
  // No cell uses the number for this Acquire any more. UnwindArena::kGraceNs after the last use,
  // another rule can get the number.
  void Release(std::uint32_t number, std::uint64_t now_ns);

 private:
  using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t, std::uint32_t, std::uint32_t,
                         std::uint32_t>;
  struct Slot {
    Key key = {};
    std::uint64_t uses = 0;
  };
  struct Free {
    std::uint32_t number = 0;
    std::uint64_t since_ns = 0;
  };
  static Key KeyOf(const unwind::Rule& rule);
  // Returns kNone if there is no room.
  std::uint32_t FreeNumberAt(std::uint64_t now_ns);

  std::span<wire_unwind_rule> rules_;
  std::vector<Slot> slots_;  // by number
  std::map<Key, std::uint32_t> numbers_;
  std::deque<Free> free_;  // in the order of their times
};

}  // namespace perftape::record
