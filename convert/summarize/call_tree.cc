// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/call_tree.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <numeric>
#include <ranges>
#include <tuple>

#include "formats/base/bytes_hash.h"

namespace perftape::summarize {
namespace {

using convert::StackId;

// Adds nodes below their parents.
class NodeAdder {
 public:
  explicit NodeAdder(std::vector<TreeNode>& nodes) : nodes_(nodes) {}

  TreeNodeId Child(TreeNodeId parent, convert::FrameId frame) {
    const std::uint64_t key = (std::uint64_t{parent} << 32) | frame;
    const auto next = static_cast<TreeNodeId>(nodes_.size());
    const auto [known, is_new] = children_.try_emplace(key, next);
    if (is_new) nodes_.push_back({.frame = frame, .parent = parent, .self = {}, .total = {}});
    return known->second;
  }

 private:
  std::vector<TreeNode>& nodes_;
  tsl::robin_map<std::uint64_t, TreeNodeId, BytesHash> children_;  // by parent and frame
};

// Cuts a stack, leaf first, to the part that belongs to the tree. Returns false if there is none.
bool CutToStart(const TreeOptions& options, std::vector<convert::FrameId>& path) {
  if (options.start_at.empty()) return true;
  const auto starts = [&](convert::FrameId frame) { return bool{options.start_at[frame]}; };
  if (options.direction == TreeDirection::kCallers) {
    path.erase(path.begin(), std::ranges::find_if(path, starts));
    return !path.empty();
  }
  const auto outermost = std::ranges::find_if(path | std::views::reverse, starts);
  path.erase(outermost.base(), path.end());
  return !path.empty();
}

}  // namespace

CallTree::CallTree(const convert::Profile& profile, const convert::FrameTable& frames,
                   const StackAmounts& amounts, const TreeOptions& options) {
  NodeAdder adder(nodes_);
  std::vector<convert::FrameId> path;
  for (std::uint32_t stack = 1; stack < profile.stacks().size(); ++stack) {
    const Amount& amount = amounts[StackId{stack}];
    if (amount.is_zero()) continue;
    path.clear();
    convert::AppendFrames(profile, frames, StackId{stack}, path);
    if (!CutToStart(options, path)) continue;
    if (options.direction == TreeDirection::kCallees) std::ranges::reverse(path);
    TreeNodeId node = 0;
    for (const convert::FrameId frame : path) node = adder.Child(node, frame);
    nodes_[node].self.Add(amount);
  }
  for (TreeNode& node : nodes_ | std::views::reverse) {
    node.total.Add(node.self);
    if (&node != nodes_.data()) nodes_[node.parent].total.Add(node.total);
  }
  SortChildren(frames);
}

void CallTree::SortChildren(const convert::FrameTable& frames) {
  children_.resize(nodes_.size() - 1);
  std::iota(children_.begin(), children_.end(), TreeNodeId{1});
  std::ranges::sort(children_, [&](TreeNodeId a, TreeNodeId b) {
    const TreeNode& one = nodes_[a];
    const TreeNode& other = nodes_[b];
    return std::tuple(one.parent, SizeOf(other.total), frames.NameOf(one.frame), one.frame) <
           std::tuple(other.parent, SizeOf(one.total), frames.NameOf(other.frame), other.frame);
  });
  begins_.resize(nodes_.size() + 1);
  for (const TreeNodeId child : children_) ++begins_[nodes_[child].parent + 1];
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
}

std::vector<TreeNodeId> LargestStacks(const CallTree& tree, std::size_t most) {
  std::vector<TreeNodeId> ends;
  for (TreeNodeId node = 1; node < tree.size(); ++node) {
    if (!tree[node].self.is_zero()) ends.push_back(node);
  }
  const auto count = std::min(most, ends.size());
  std::ranges::partial_sort(
      ends, ends.begin() + static_cast<std::ptrdiff_t>(count), [&](TreeNodeId a, TreeNodeId b) {
        return std::tuple(SizeOf(tree[b].self), a) < std::tuple(SizeOf(tree[a].self), b);
      });
  ends.resize(count);
  return ends;
}

}  // namespace perftape::summarize
