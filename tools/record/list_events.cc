// SPDX-License-Identifier: Apache-2.0
#include "tools/record/list_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

namespace perftape::record_tool {

std::string ListText(const std::vector<record::ListedEvent>& events) {
  std::string text;
  std::vector<std::string_view> reasons;  // in the order of their first event
  for (const record::ListedEvent& event : events) {
    const std::string names =
        event.alias.empty() ? event.name : fmt::format("{} OR {}", event.name, event.alias);
    text += fmt::format("{:<45} {}", names, event.kind);
    if (!event.reason.empty()) {
      auto found = std::ranges::find(reasons, event.reason);
      if (found == reasons.end()) found = reasons.insert(found, event.reason);
      text += fmt::format("; not here ({})", found - reasons.begin() + 1);
    }
    text += '\n';
  }
  if (!reasons.empty()) text += "\nNot here:\n";
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    text += fmt::format("  ({}) {}\n", i + 1, reasons[i]);
  }
  return text;
}

}  // namespace perftape::record_tool
