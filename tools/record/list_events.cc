// SPDX-License-Identifier: Apache-2.0
#include "tools/record/list_events.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace perftape::record_tool {
namespace {

constexpr cli::Option kListRows[] = {
    {.name = "names",
     .help = "print only the names of the events that work here, one on each line",
     .into = cli::SetTo<ListForm::kNames, &EventListPlan::form>},
};
constexpr auto kListOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kListRows));

constexpr cli::Example kListExamples[] = {
    {"perftape-record list", "all events of this machine"},
    {"perftape-record list 'sched:*'", "the tracepoints of the scheduler"},
    {"perftape-record list 'uprobe:libc:*alloc'", "functions of a library that can be probed"},
};

constexpr cli::Command kListCommand = {
    .name = "perftape-record list",
    .purpose =
        "Print the events that match GLOB, with a description, and for those that cannot be "
        "recorded here the reason. A word without *, ? and [ matches all names that contain it.",
    .operands = "[GLOB]",
    .options = kListOptions,
    .operand_completion = cli::Completion::kEvent,
    .examples = kListExamples,
};

// Returns the end of "uprobe:PATH:", or 0 for a glob of other events.
std::size_t EndOfPath(std::string_view name) {
  constexpr std::string_view kKinds[] = {"uprobe:", "uretprobe:", "usdt:"};
  const auto* kind =
      std::ranges::find_if(kKinds, [&](std::string_view each) { return name.starts_with(each); });
  if (kind == std::end(kKinds)) return 0;
  const std::size_t colon = name.find(':', kind->size());
  return colon == name.npos ? 0 : colon + 1;
}

}  // namespace

const cli::Command& ListCommand() {
  return kListCommand;
}

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

std::string NamesText(const std::vector<record::ListedEvent>& events, std::string_view glob) {
  const std::string_view path = glob.substr(0, EndOfPath(glob));
  std::string text;
  for (const record::ListedEvent& event : events) {
    if (!event.reason.empty()) continue;
    const std::string_view name = event.name;
    text += fmt::format("{}{}\n", path, path.empty() ? name : name.substr(EndOfPath(name)));
    if (!event.alias.empty()) text += fmt::format("{}\n", event.alias);
  }
  return text;
}

}  // namespace perftape::record_tool
