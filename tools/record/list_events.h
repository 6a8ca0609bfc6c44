// SPDX-License-Identifier: Apache-2.0
// perftape-record list: its options, and the events as text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "record/events/event_list.h"
#include "tools/common/cli/options.h"

namespace perftape::record_tool {

// The operand of perftape-record that makes it print events; also as the only event.
inline constexpr std::string_view kListWord = "list";

enum class ListForm : std::uint8_t { kTable, kNames };

struct EventListPlan : cli::BaseOptions {
  ListForm form = ListForm::kTable;
};

const cli::Command& ListCommand();

struct ListRequest {
  std::string glob = "*";
  ListForm form = ListForm::kTable;

  bool operator==(const ListRequest&) const = default;
};

// Returns a line for each event: its names, what it is, and the number of the reason why it does
// not work here. The reasons follow, each once.
//
//   context-switches OR cs         software event
//   cycles OR cpu-cycles           hardware event; not here (1)
//
//   Not here:
//     (1) this machine has no ...
std::string ListText(const std::vector<record::ListedEvent>& events);

// Returns a line for each name that works here, for completion by a shell. The path of a probe is
// that of the glob: "uprobe:libc:malloc" for "uprobe:libc:mal*".
std::string NamesText(const std::vector<record::ListedEvent>& events, std::string_view glob);

}  // namespace perftape::record_tool
