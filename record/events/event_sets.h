// SPDX-License-Identifier: Apache-2.0
// Tracepoints that together answer a question, under one name.
#pragma once

#include <span>
#include <string_view>

namespace perftape::record {

struct EventSet {
  std::string_view name;
  std::string_view events;   // in the syntax of ParseEvents
  std::string_view meaning;  // of one count, for the list
};

// Returns all sets.
std::span<const EventSet> EventSets();

// Returns the set with this name, or null.
const EventSet* FindEventSet(std::string_view name);

}  // namespace perftape::record
