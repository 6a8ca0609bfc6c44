// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/contents.h"

#include <cmath>
#include <utility>

namespace perftape::summarize {
namespace {

using convert::FrameId;
using convert::FrameTable;

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
void AppendRows(const CallTree& tree, TreeNodeId parent, std::size_t depth, const Amount& smallest,
                std::vector<TreeRow>& rows) {
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
             const ContentOptions& options, EventContents& contents) {
  TreeOptions tree_options = {.direction = *options.tree};
  if (options.tree_start) {
    tree_options.start_at = FramesThatMatch(profile, frames, *options.tree_start);
  }
  const CallTree tree(profile, frames, amounts, tree_options);
  contents.tree_total = tree[0].total;
  const double limit = static_cast<double>(contents.whole.weight) * options.percent_limit / 100;
  AppendRows(tree, 0, 0, {.samples = 0, .weight = static_cast<std::int64_t>(limit)}, contents.tree);
}

std::vector<StackShare> TopStacks(const convert::Profile& profile, const FrameTable& frames,
                                  const StackAmounts& amounts, std::size_t most) {
  const CallTree tree(profile, frames, amounts, {});
  std::vector<StackShare> stacks;
  for (TreeNodeId end : LargestStacks(tree, most)) {
    StackShare& stack = stacks.emplace_back();
    stack.amount = tree[end].self;
    for (; end != 0; end = tree[end].parent) stack.frames.push_back(tree[end].frame);
  }
  return stacks;
}

EventContents ContentsOf(const convert::Profile& profile, const FrameTable& frames,
                         const StackAmounts& amounts, const ContentOptions& options) {
  EventContents contents;
  contents.event = amounts.event();
  contents.total = amounts.total();
  contents.whole = amounts.whole();
  contents.is_difference = amounts.is_difference();
  contents.has_periods = amounts.has_periods();
  contents.quality = JudgeStacks(profile, frames, amounts);
  contents.unnamed = SumUnnamed(profile, frames, amounts);
  contents.functions = SumFunctions(profile, frames, amounts);
  contents.wakeups = SumWakeups(profile, amounts);
  if (options.sort == SortBy::kTotal) SortByInclusive(contents.functions);
  if (options.latency) {
    contents.latency =
        SumLatency(profile, frames, amounts.event(), options.sort, contents.functions);
  }
  if (options.stacks != 0) contents.stacks = TopStacks(profile, frames, amounts, options.stacks);
  for (const GroupBy& by : options.groups) {
    contents.groups.push_back({.by = by, .groups = SumGroups(profile, amounts, by)});
  }
  if (options.tree) AddTree(profile, frames, amounts, options, contents);
  if (options.lines) {
    contents.lines =
        SumLines(profile, frames, amounts, FramesThatMatch(profile, frames, *options.lines));
  }
  return contents;
}

}  // namespace

Contents MakeContents(const convert::Profile& profile, const ReadContents& read,
                      const ContentOptions& options) {
  Contents contents = {.profile = profile,
                       .frames = FrameTable(profile, convert::FrameIdentity::kFunction),
                       .events = {}};
  for (std::uint32_t i = 0; i < profile.events().size(); ++i) {
    const StackAmounts amounts(profile, convert::EventId{i});
    if (amounts.whole().is_zero()) continue;
    EventContents& event =
        contents.events.emplace_back(ContentsOf(profile, contents.frames, amounts, options));
    event.warnings = WarningsOf(contents, event, read);
  }
  return contents;
}

}  // namespace perftape::summarize
