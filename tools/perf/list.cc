// SPDX-License-Identifier: Apache-2.0
// perf list (tools/perf/builtin-list.c, util/print-events.c of Linux 6.1).
#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "record/events/event_list.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/output.h"
#include "tools/common/cli/rows.h"
#include "tools/perf/verbs.h"

namespace perftape::perf_tool {
namespace {

struct EventsPlan : cli::BaseOptions {
  bool raw_dump = false;
  // Only accepted: the events of perftape have one description.
  bool desc = false, no_desc = false, details = false;
};

constexpr cli::Option kEventsRows[] = {
    {.name = "raw-dump",
     .help = "print only the names, on one line",
     .is_rare = true,
     .into = cli::Set<&EventsPlan::raw_dump>},
    {.name = "desc",
     .letter = 'd',
     .help = "accepted without effect: each event has one description",
     .is_rare = true,
     .into = cli::Set<&EventsPlan::desc>},
    {.name = "no-desc",
     .help = "accepted without effect",
     .is_rare = true,
     .into = cli::Set<&EventsPlan::no_desc>},
    {.name = "long-desc",
     .letter = 'v',
     .help = "accepted without effect",
     .is_rare = true,
     .into = cli::Set<&EventsPlan::verbose>},
    {.name = "details",
     .help = "accepted without effect",
     .is_rare = true,
     .into = cli::Set<&EventsPlan::details>},
};
constexpr auto kEventsOptions = cli::Table(cli::InGroup(cli::Group::kOutput, kEventsRows));

constexpr cli::Example kEventsExamples[] = {
    {"perftape-perf list sw", "the software events"},
    {"perftape-perf list 'sched:*'", "tracepoints"},
};

constexpr cli::Command kEventsCommand = {
    .name = "perftape-perf list",
    .purpose =
        "Print the events that can be recorded here, as perf list does. 'perftape-record list' "
        "also prints the others, and why they do not work.",
    .operands = "[hw | sw | cache | tracepoint | GLOB]...",
    .options = kEventsOptions,
    .operand_completion = cli::Completion::kEvent,
    .examples = kEventsExamples,
};

// The words for a kind of events, and what perf prints for it. The first row that matches counts.
struct ListedKind {
  std::string_view word;   // empty: no word selects it alone
  std::string_view kind;   // ListedEvent::kind
  std::string_view shown;  // in brackets; empty: `kind`
};
constexpr ListedKind kKinds[] = {
    {"hw", "hardware event", "Hardware event"},
    {"hardware", "hardware event", "Hardware event"},
    {"sw", "software event", "Software event"},
    {"software", "software event", "Software event"},
    {"sw", "clock", "Software event"},
    {"software", "clock", "Software event"},
    {"cache", "hardware event", "Hardware cache event"},
    {"hwcache", "hardware event", "Hardware cache event"},
    {"tracepoint", "tracepoint", "Tracepoint event"},
};

// "L1-dcache-loads" and so on have a "-" and a word of this list (tools/perf/util/parse-events.c,
// hw_cache of evsel.c).
bool IsCacheEvent(const record::ListedEvent& event) {
  constexpr std::string_view kCaches[] = {"L1-", "LLC-", "dTLB-", "iTLB-", "branch-load", "node-"};
  return event.kind == "hardware event" &&
         std::ranges::any_of(kCaches, [&](auto cache) { return event.name.starts_with(cache); });
}

std::string_view ShownKind(const record::ListedEvent& event) {
  if (IsCacheEvent(event)) return "Hardware cache event";
  const auto* const found = std::ranges::find(kKinds, event.kind, &ListedKind::kind);
  return found == std::end(kKinds) ? std::string_view(event.kind) : found->shown;
}

bool IsKindWord(std::string_view word) {
  return std::ranges::find(kKinds, word, &ListedKind::word) != std::end(kKinds);
}

bool HasKind(const record::ListedEvent& event, std::string_view word) {
  const std::string_view shown = ShownKind(event);
  return std::ranges::any_of(
      kKinds, [&](const ListedKind& row) { return row.word == word && row.shown == shown; });
}

std::string NamesOf(const record::ListedEvent& event) {
  return event.alias.empty() || ShownKind(event).starts_with("Tracepoint")
             ? event.name
             : event.name + " OR " + event.alias;
}

// Returns the events that work and that `word` selects.
Result<std::vector<record::ListedEvent>> EventsOf(std::string_view word,
                                                  const record::EventMachine& machine) {
  const bool is_kind = IsKindWord(word);
  TRY_ASSIGN(std::vector<record::ListedEvent> events,
             record::ListEvents(is_kind ? "*" : word, machine));
  std::erase_if(events, [&](const record::ListedEvent& event) {
    return !event.reason.empty() || (is_kind && !HasKind(event, word));
  });
  return events;
}

Result<EventsPlan> EventsPlanOf(EventsPlan plan) {
  if (plan.operands.empty()) plan.operands = {"*"};
  return plan;
}

Result<int> Run(const EventsPlan& plan, cli::Console& /*console*/) {
  std::string text;
  const record::EventMachine machine = record::EventMachine::This();
  for (const std::string& word : plan.operands) {
    TRY_ASSIGN(const std::vector<record::ListedEvent> events, EventsOf(word, machine));
    for (const record::ListedEvent& event : events) {
      const std::string names = cli::EscapeForTerminal(NamesOf(event));
      text += plan.raw_dump ? cli::EscapeForTerminal(event.name) + " "
                            : fmt::format("  {:<50} [{}]\n", names, ShownKind(event));
    }
  }
  if (plan.raw_dump) text += "\n";
  std::optional<cli::Pager> pager;
  if (cli::IsTerminal() && !plan.raw_dump) pager.emplace();
  TRY(cli::PrintToStdout(text));
  return cli::kDone;
}

}  // namespace

const cli::Command& ListCommand() {
  return kEventsCommand;
}

int ListMain(int argc, char** argv) {
  return cli::Main<EventsPlan>({kEventsCommand, &EventsPlanOf, &Run}, argc, argv);
}

}  // namespace perftape::perf_tool
