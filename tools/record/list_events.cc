// SPDX-License-Identifier: Apache-2.0
#include "tools/record/list_events.h"

#include <fmt/format.h>

namespace perftape::record_tool {

std::string ListText(const std::vector<record::ListedEvent>& events) {
  std::string text;
  for (const record::ListedEvent& event : events) {
    const std::string names =
        event.alias.empty() ? event.name : fmt::format("{} OR {}", event.name, event.alias);
    text += fmt::format("{:<45} {}", names, event.kind);
    if (!event.reason.empty()) text += "; not here: " + event.reason;
    text += '\n';
  }
  return text;
}

}  // namespace perftape::record_tool
