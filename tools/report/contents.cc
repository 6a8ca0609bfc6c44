// SPDX-License-Identifier: Apache-2.0
#include "tools/report/contents.h"

#include <utility>

#include "tools/report/warnings.h"

namespace perftape::report_tool {
namespace {

using convert::FrameId;
using convert::FrameTable;
using summarize::CallTree;
using summarize::StackAmounts;
using summarize::TreeNodeId;

// Returns, by FrameId, whether the name of the function or of its binary matches.
std::vector<bool> FramesThatMatch(const convert::Profile& profile, const FrameTable& frames,
                                  const convert::NameRegex& regex) {
  std::vector<bool> matches;
  for (std::uint32_t i = 0; i < frames.size(); ++i) {
    matches.push_back(regex.Find(frames.NameOf(i)) || regex.Find(profile.text(frames[i].dso)));
  }
  return matches;
}

// Appends the subtree below `parent`, in the order of the text.
void AppendRows(const CallTree& tree, TreeNodeId parent, std::size_t depth,
                const summarize::Amount& smallest, std::vector<TreeRow>& rows) {
  // A stack of nodes instead of recursion: stacks of callers can be very deep.
  std::vector<std::pair<TreeNodeId, std::size_t>> waiting = {{parent, depth}};
  while (!waiting.empty()) {
    const auto [node, level] = waiting.back();
    waiting.pop_back();
    if (node != parent) {
      rows.push_back({.depth = level,
                      .frame = tree[node].frame,
                      .self = tree[node].self,
                      .total = tree[node].total});
    }
    const auto children = tree.ChildrenOf(node);
    for (std::size_t i = children.size(); i-- > 0;) {
      if (std::abs(tree[children[i]].total.weight) < smallest.weight) continue;
      waiting.emplace_back(children[i], node == parent ? depth : level + 1);
    }
  }
}

void AddTree(const convert::Profile& profile, const FrameTable& frames, const StackAmounts& amounts,
             const ReportPlan& plan, EventContents& contents) {
  summarize::TreeOptions options = {.direction = *plan.tree};
  if (plan.filter.focus) {
    options.start_at = FramesThatMatch(profile, frames, *plan.filter.focus);
  }
  const CallTree tree(profile, frames, amounts, options);
  contents.tree_total = tree[0].total;
  const double limit =
      static_cast<double>(std::abs(contents.total.weight)) * plan.percent_limit / 100;
  AppendRows(tree, 0, 0, {.samples = 0, .weight = static_cast<std::int64_t>(limit)}, contents.tree);
}

std::vector<StackShare> TopStacks(const convert::Profile& profile, const FrameTable& frames,
                                  const StackAmounts& amounts, std::size_t most) {
  const CallTree tree(profile, frames, amounts, {});
  std::vector<StackShare> stacks;
  for (TreeNodeId end : summarize::LargestStacks(tree, most)) {
    StackShare& stack = stacks.emplace_back();
    stack.amount = tree[end].self;
    for (; end != 0; end = tree[end].parent) stack.frames.push_back(tree[end].frame);
  }
  return stacks;
}

EventContents ContentsOf(const convert::Profile& profile, const FrameTable& frames,
                         const StackAmounts& amounts, const ReportPlan& plan) {
  EventContents contents;
  contents.event = amounts.event();
  contents.total = amounts.total();
  contents.has_periods = amounts.has_periods();
  contents.quality = summarize::JudgeStacks(profile, frames, amounts);
  contents.unnamed = summarize::SumUnnamed(profile, frames, amounts);
  contents.functions = summarize::SumFunctions(profile, frames, amounts);
  contents.wakeups = summarize::SumWakeups(profile, amounts);
  if (plan.sort == SortBy::kTotal) summarize::SortByInclusive(contents.functions);
  if (plan.stacks != 0) contents.stacks = TopStacks(profile, frames, amounts, plan.stacks);
  for (const summarize::GroupBy& by : plan.groups) {
    contents.groups.push_back({.by = by, .groups = summarize::SumGroups(profile, amounts, by)});
  }
  if (plan.tree) AddTree(profile, frames, amounts, plan, contents);
  if (plan.lines) {
    contents.lines = summarize::SumLines(profile, frames, amounts,
                                         FramesThatMatch(profile, frames, *plan.lines));
  }
  return contents;
}

}  // namespace

Contents MakeContents(const convert::Profile& profile, const ReadContents& read,
                      const ReportPlan& plan) {
  Contents contents = {.profile = profile,
                       .frames = FrameTable(profile, convert::FrameIdentity::kFunction),
                       .events = {}};
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    const StackAmounts amounts(profile, convert::EventId{i});
    if (amounts.total().is_zero()) continue;
    EventContents& event =
        contents.events.emplace_back(ContentsOf(profile, contents.frames, amounts, plan));
    event.warnings = WarningsOf(contents, event, read);
  }
  return contents;
}

}  // namespace perftape::report_tool
