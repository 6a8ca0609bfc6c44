// SPDX-License-Identifier: Apache-2.0
// Events that together answer a question, under one name.
#pragma once

#include <span>
#include <string_view>

namespace perftape::record {

struct EventSet {
  std::string_view name;
  // In the syntax of ParseEvents. Of kLockSet: the tracepoints where a wait begins and ends.
  std::string_view events;
  std::string_view unit;     // of the period: kCount or kNanoseconds of period_unit.h
  std::string_view meaning;  // of one sample, for the list
};

// Its events are not recorded each, but the time between them.
inline constexpr std::string_view kLockSet = "lock";

// Returns all sets.
std::span<const EventSet> EventSets();

// Returns the set with this name, or null.
const EventSet* FindEventSet(std::string_view name);

}  // namespace perftape::record
