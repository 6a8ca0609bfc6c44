// SPDX-License-Identifier: Apache-2.0
// The contents of a report about a profile, as numbers: before they become tables or JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convert/combine.h"
#include "convert/filter/name_patterns.h"
#include "convert/frames/frame_table.h"
#include "convert/model/profile.h"
#include "convert/summarize/amount.h"
#include "convert/summarize/breakdowns.h"
#include "convert/summarize/call_tree.h"
#include "convert/summarize/latency.h"
#include "convert/summarize/stack_quality.h"
#include "convert/summarize/wakeups.h"

namespace perftape::summarize {

// What a report contains besides the totals, the functions and the wakeups.
struct ContentOptions {
  SortBy sort = SortBy::kSelf;  // of the functions
  std::size_t stacks = 0;       // how many stacks
  std::vector<GroupBy> groups = {};
  std::optional<TreeDirection> tree = {};
  std::optional<convert::NameRegex> tree_start = {};  // the functions at which the tree starts
  bool latency = false;                               // of the functions, which are sorted by it
  double percent_limit = 0.5;  // rows of the tree with a smaller share are left out
  std::optional<convert::NameRegex> lines = {};  // the functions whose source lines are summed
};

struct GroupTable {
  GroupBy by;
  std::vector<GroupAmount> groups;
};

// A frequent stack, leaf first.
struct StackShare {
  std::vector<convert::FrameId> frames;
  Amount amount;
};

// A row of a call tree.
struct TreeRow {
  std::size_t depth = 0;
  convert::FrameId frame = {};
  Amount self = {}, total = {};
};

struct EventContents {
  convert::EventId event;
  Amount total;
  Amount whole;                // what shares are of (StackAmounts::whole)
  bool is_difference = false;  // of profiles: it has negative amounts
  bool has_periods = false;
  StackQuality quality;
  std::vector<UnnamedBinary> unnamed;
  std::vector<FunctionAmounts> functions;  // all, sorted
  std::optional<Latency> latency = {};     // if it was asked for
  std::vector<Wakeups> wakeups;            // all, sorted
  std::vector<StackShare> stacks;          // as many as were asked for
  std::vector<GroupTable> groups;
  std::vector<TreeRow> tree;  // without the branches below the limit
  Amount tree_total;          // of the stacks in the tree
  std::vector<LineAmounts> lines;
  std::vector<std::string> warnings;
};

// What was read.
struct ReadContents {
  std::vector<convert::InputReport> inputs;
  symbolize::SymbolizeReport symbols;
};

struct Contents {
  const convert::Profile& profile;
  convert::FrameTable frames;
  std::vector<EventContents> events;  // those with samples
};

// `profile` must outlive the result.
Contents MakeContents(const convert::Profile& profile, const ReadContents& read,
                      const ContentOptions& options);

// Returns caveats that a reader should check before drawing conclusions from the numbers, one
// sentence for each: few samples, no call chains, stacks that are cut, functions without names and
// what would name them, losses above one percent. The recordings say which stacks are cut
// (ImportReport::noted_chains); if they do not, it is guessed. MakeContents adds the caveats to
// each event.
std::vector<std::string> WarningsOf(const Contents& contents, const EventContents& event,
                                    const ReadContents& read);

}  // namespace perftape::summarize
