// SPDX-License-Identifier: Apache-2.0
#include "convert/export/flame_graph/stack_tree.h"

#include <fmt/core.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

#include "convert/export/frame_texts.h"
#include "convert/model/saturating.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::flame_graph {
namespace {

constexpr FrameId kUnset = std::numeric_limits<FrameId>::max();

using convert::AddUpToLimit;
using convert::FoldedValue;
using convert::Profile;
using convert::Sample;
using convert::StackId;

convert::FoldedOptions WithoutMarks(convert::FoldedOptions options) {
  options.mark_kernel = false;  // the type tells it
  return options;
}

convert::FrameIdentity IdentityFor(const convert::FoldedOptions& options) {
  return options.differential ? convert::FrameIdentity::kName : convert::FrameIdentity::kType;
}

}  // namespace

RootedFrameTable::RootedFrameTable(const convert::Profile& profile,
                                   const convert::FoldedOptions& options)
    : convert::FrameTable(profile, IdentityFor(options)),
      profile_(profile),
      options_(WithoutMarks(options)),
      texts_(profile, options_),
      callers_(profile.locations().size(), kUnset) {}

bool RootedFrameTable::HasOffsets(convert::LocationId location) const {
  const convert::Location& at = profile_[location];
  if (!at.lines.empty() || options_.differential) return false;
  const convert::Mapping& mapping = profile_[at.mapping];
  return mapping.type == convert::MappingType::kUser &&
         perfdata::IsFilePath(profile_.text(mapping.filename));
}

FrameId RootedFrameTable::OfCaller(convert::LocationId location, FrameId frame) {
  FrameId& known = callers_[location.index];
  if (known != kUnset) return known;
  if (!HasOffsets(location)) return frame;
  const std::string_view name = NameOf(frame);
  const std::string text =
      fmt::format("{}+{:#x}]", name.substr(0, name.size() - 1), profile_[location].offset.value);
  return known = AddRenamed(frame, text);
}

class StackForest::Builder {
 public:
  Builder(const Profile& profile, RootedFrameTable& frames)
      : profile_(profile), trie_(profile), frames_(frames) {}

  // Sets the root frame of all stacks that are added from now on; kNoText means none.
  void StartRoot(convert::TextId text) {
    trie_.StartBelow(text == convert::kNoText ? 0
                                              : trie_.AddChild(0, {.frame = frames_.OfRoot(text)}));
    leaves_.clear();
  }

  // Returns the node of a stack.
  std::uint32_t Add(StackId stack) {
    if (stack == StackId{} || !frames_.HasOffsets(profile_[stack].leaf)) {
      const std::uint32_t node = NodeOf(stack);
      return node != 0 ? node : trie_.AddChild(0, {.frame = frames_.OfNoFrames()});
    }
    // What is sampled is a frame for the file: each instruction has another offset.
    std::uint32_t& leaf = leaves_[stack.index];
    if (leaf == 0) {
      const FrameId frame = frames_.Of(profile_[stack].leaf).front();
      leaf = trie_.AddChild(NodeOf(profile_[stack].caller), {.frame = frame});
    }
    return leaf;
  }
  Content& operator[](std::uint32_t node) { return trie_[node]; }

  std::vector<Trie::Node> Finish() && { return std::move(trie_).Finish(); }

 private:
  std::uint32_t NodeOf(StackId stack) {
    return trie_.NodeOf(
        stack, [this](std::uint32_t at, convert::LocationId location, convert::AddressKind) {
          for (const FrameId frame : frames_.Of(location) | std::views::reverse) {
            at = trie_.AddChild(at, {.frame = frames_.OfCaller(location, frame)});
          }
          return at;
        });
  }

  const Profile& profile_;
  Trie trie_;
  tsl::robin_map<std::uint32_t, std::uint32_t> leaves_;  // of HasOffsets, by StackId
  RootedFrameTable& frames_;
};

StackForest StackForest::Of(const Profile& profile, const TreeEvents& events,
                            RootedFrameTable& frames, KeepSamples keep) {
  StackForest forest;
  Builder builder(profile, frames);
  convert::TextId root = convert::kNoText;
  const std::array both = {events.event, events.before.value_or(events.event)};
  const std::span shown = std::span(both).first(events.before ? 2 : 1);
  const convert::FoldedOptions& options = frames.options();
  forest.value_ = ChooseValue(profile, options.value, shown);
  const bool is_count = forest.value_ == FoldedValue::kSamples;
  for (const convert::RootedSample& rooted :
       SamplesByRoot(profile, shown, options.root, frames.texts())) {
    const Sample& sample = profile.samples()[rooted.sample];
    const bool is_sampled = profile[sample.event].values == convert::EventValues::kSampled;
    const std::int64_t number = is_sampled && is_count ? sample.count : sample.period;
    const std::int64_t other =
        !is_sampled ? 0 : std::max<std::int64_t>(is_count ? sample.period : sample.count, 0);
    if (number < 0) ++forest.negative_samples_;
    if (number < 0 || (number == 0 && other == 0)) continue;
    if (rooted.root != root) builder.StartRoot(root = rooted.root);
    const std::uint32_t index = builder.Add(sample.stack);
    if (keep == KeepSamples::kYes) forest.samples_.push_back({rooted.sample, index});
    Content& node = builder[index];
    const bool is_after = sample.event == events.event;
    std::int64_t& sum = is_after ? node.self : node.before;
    std::int64_t& other_sum = is_after ? node.other : node.other_before;
    sum = AddUpToLimit(sum, number);
    other_sum = AddUpToLimit(other_sum, other);
    node.first_ms = std::min(node.first_ms, sample.first_ms);
  }
  forest.nodes_ = std::move(builder).Finish();
  return forest;
}

// Appends the children of all `parents`, in reverse order of their ranks.
void StackForest::AppendChildren(std::span<const Item> parents,
                                 std::span<const std::uint32_t> ranks,
                                 std::vector<Item>& items) const {
  const auto begin = static_cast<std::ptrdiff_t>(items.size());
  for (const Item& parent : parents) {
    for (std::uint32_t i = nodes_[parent.node].first_child; i != 0; i = nodes_[i].next_sibling) {
      items.push_back({ranks[nodes_[i].frame], i});
    }
  }
  std::ranges::sort(items.begin() + begin, items.end(), std::greater());
}

StackTree StackForest::Join(std::span<const std::uint32_t> ranks) const {
  StackTree tree;
  tree.nodes.reserve(nodes_.size());
  tree.negative_samples = negative_samples_;
  tree.value = value_;
  std::vector<std::uint32_t> joined_in(samples_.empty() ? 0 : nodes_.size());
  std::vector<Item> items;          // what is left, of all levels
  std::vector<std::size_t> begins;  // of the levels, in `items`
  std::vector<Item> same;           // nodes that become one
  begins.push_back(0);
  AppendChildren(std::array{Item{.rank = 0, .node = 0}}, ranks, items);
  while (!begins.empty()) {
    if (items.size() == begins.back()) {
      begins.pop_back();
      continue;
    }
    StackNode node = {.frame = nodes_[items.back().node].frame,
                      .depth = static_cast<std::uint32_t>(begins.size() - 1)};
    const std::uint32_t rank = items.back().rank;
    same.clear();
    for (; items.size() > begins.back() && items.back().rank == rank; items.pop_back()) {
      same.push_back(items.back());
      const Content& joined = nodes_[items.back().node];
      if (!joined_in.empty()) {
        joined_in[items.back().node] = static_cast<std::uint32_t>(tree.nodes.size());
      }
      node.self = AddUpToLimit(node.self, joined.self);
      node.before = AddUpToLimit(node.before, joined.before);
      node.other = AddUpToLimit(node.other, joined.other);
      node.other_before = AddUpToLimit(node.other_before, joined.other_before);
      node.first_ms = std::min(node.first_ms, joined.first_ms);
    }
    tree.nodes.push_back(node);
    begins.push_back(items.size());
    AppendChildren(same, ranks, items);
  }
  tree.samples = samples_;
  for (SampleNode& at : tree.samples) at.node = joined_in[at.node];
  return tree;
}

std::int64_t StackTree::total() const {
  std::int64_t total = 0;
  for (const StackNode& node : nodes) total = AddUpToLimit(total, node.self);
  return total;
}

std::int64_t StackTree::total_before() const {
  std::int64_t total = 0;
  for (const StackNode& node : nodes) total = AddUpToLimit(total, node.before);
  return total;
}

std::vector<std::int64_t> TotalsOf(const StackTree& tree, std::int64_t StackNode::*number) {
  std::vector<std::int64_t> totals(tree.nodes.size());
  std::vector<std::int64_t> open;  // sums of the children of a node of each depth
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    const StackNode& node = tree.nodes[i];
    if (open.size() < node.depth + std::size_t{2}) open.resize(node.depth + std::size_t{2});
    totals[i] = AddUpToLimit(node.*number, open[node.depth + 1]);
    open[node.depth + 1] = 0;
    open[node.depth] = AddUpToLimit(open[node.depth], totals[i]);
  }
  return totals;
}

std::vector<std::uint32_t> FirstTimesOf(const StackTree& tree) {
  std::vector<std::uint32_t> times(tree.nodes.size());
  std::vector<std::uint32_t> open;  // the earliest of the children of a node of each depth
  for (std::size_t i = tree.nodes.size(); i-- > 0;) {
    const StackNode& node = tree.nodes[i];
    open.resize(std::max(open.size(), node.depth + std::size_t{2}), convert::Sample::kNoTime);
    times[i] =
        std::min(node.first_ms, std::exchange(open[node.depth + 1], convert::Sample::kNoTime));
    open[node.depth] = std::min(open[node.depth], times[i]);
  }
  return times;
}

void FoldSmallCalls(StackTree& tree, std::span<const std::int64_t> totals, std::int64_t smallest) {
  if (smallest <= 0) return;
  std::vector<std::size_t> kept;  // the path to the last kept node
  std::vector<std::uint32_t> moved(tree.samples.empty() ? 0 : tree.nodes.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    const StackNode node = tree.nodes[i];
    kept.resize(std::min<std::size_t>(kept.size(), node.depth));
    const bool is_kept = totals[i] >= smallest || node.depth == 0;
    if (is_kept) {
      kept.push_back(count);
      tree.nodes[count++] = node;
    }
    if (!moved.empty()) moved[i] = static_cast<std::uint32_t>(kept.back());
    if (is_kept) continue;
    StackNode& caller = tree.nodes[kept.back()];
    caller.self = AddUpToLimit(caller.self, node.self);
    caller.before = AddUpToLimit(caller.before, node.before);
    caller.other = AddUpToLimit(caller.other, node.other);
    caller.other_before = AddUpToLimit(caller.other_before, node.other_before);
    caller.first_ms = std::min(caller.first_ms, node.first_ms);
    ++caller.folded;
  }
  tree.nodes.resize(count);
  for (SampleNode& at : tree.samples) at.node = moved[at.node];
}

std::int64_t SmallestForAtMost(std::vector<std::int64_t> totals, std::size_t most) {
  if (totals.size() <= most) return 0;
  const auto last = totals.begin() + static_cast<std::ptrdiff_t>(most);
  std::ranges::nth_element(totals, last, std::greater());
  return AddUpToLimit(*last, std::int64_t{1});
}

SideChanges::SideChanges(const StackTree& tree, std::int64_t gone, Compared compared)
    : compared_(compared),
      before_(TotalsOf(tree, &StackNode::before)),
      after_(TotalsOf(tree)),
      total_before_(tree.total_before()),
      total_after_(tree.total()),
      gone_(gone),
      largest_(std::abs(OfAll())) {
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    largest_ = std::max(largest_, std::abs(Of(i)));
  }
}

std::int64_t GoneSamples(const StackTree& tree) {
  const std::vector<std::int64_t> after = TotalsOf(tree);
  std::int64_t gone = 0;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i] == 0) gone = convert::AddUpToLimit(gone, tree.nodes[i].before);
  }
  return gone;
}

}  // namespace perftape::flame_graph
