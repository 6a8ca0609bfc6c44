// SPDX-License-Identifier: Apache-2.0
// What a report says of a profile: the numbers, before they are tables or JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "convert/combine.h"
#include "convert/frames/frame_table.h"
#include "convert/model/profile.h"
#include "convert/summarize/amount.h"
#include "convert/summarize/breakdowns.h"
#include "convert/summarize/call_tree.h"
#include "convert/summarize/stack_quality.h"
#include "convert/summarize/wakeups.h"
#include "tools/report/command_line.h"

namespace perftape::report_tool {

struct GroupTable {
  summarize::GroupBy by;
  std::vector<summarize::GroupAmount> groups;
};

// A frequent stack, leaf first.
struct StackShare {
  std::vector<convert::FrameId> frames;
  summarize::Amount amount;
};

// A row of a call tree.
struct TreeRow {
  std::size_t depth = 0;
  convert::FrameId frame = {};
  summarize::Amount self = {}, total = {};
};

struct EventContents {
  convert::EventId event;
  summarize::Amount total;
  bool has_periods = false;
  summarize::StackQuality quality;
  std::vector<summarize::UnnamedBinary> unnamed;
  std::vector<summarize::FunctionAmounts> functions;  // all, sorted
  std::vector<summarize::Wakeups> wakeups;            // all, sorted
  std::vector<StackShare> stacks;                     // as many as were asked for
  std::vector<GroupTable> groups;
  std::vector<TreeRow> tree;     // without the branches below the limit
  summarize::Amount tree_total;  // of the stacks in the tree
  std::vector<summarize::LineAmounts> lines;
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
                      const ReportPlan& plan);

}  // namespace perftape::report_tool
