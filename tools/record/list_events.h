// SPDX-License-Identifier: Apache-2.0
// perftape-record list: the events as text.
#pragma once

#include <string>
#include <vector>

#include "record/events/event_list.h"

namespace perftape::record_tool {

// Returns a line for each event: its names, what it is, and the number of the reason why it does
// not work here. The reasons follow, each once.
//
//   context-switches OR cs         software event
//   cycles OR cpu-cycles           hardware event; not here (1)
//
//   Not here:
//     (1) this machine has no ...
std::string ListText(const std::vector<record::ListedEvent>& events);

}  // namespace perftape::record_tool
