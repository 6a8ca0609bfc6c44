// SPDX-License-Identifier: Apache-2.0
// Events that together answer a question, under one name for -e that perf does not have.
#pragma once

#include <span>
#include <string_view>

#include "record/bpf/program_events.h"

namespace perftape::record {

struct EventSet {
  std::string_view name;
  std::string_view meaning;  // of one sample, for the list
  std::string_view events;   // in the syntax of ParseEvents
  // Not null: the events are not recorded each, but what these programs make of them.
  const ProgramEvent* program = nullptr;
};

// Returns all sets. Each event with programs of its own is one.
std::span<const EventSet> EventSets();

// Returns the set with this name, or null.
const EventSet* FindEventSet(std::string_view name);

}  // namespace perftape::record
