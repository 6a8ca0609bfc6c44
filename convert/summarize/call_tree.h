// SPDX-License-Identifier: Apache-2.0
// The calls of a profile as a tree of names, from callers to callees or the other way round.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convert/frames/frame_table.h"
#include "convert/summarize/amount.h"

namespace perftape::summarize {

enum class TreeDirection : std::uint8_t {
  kCallees,  // from the outermost frame to what it calls
  kCallers,  // from the innermost frame to what calls it
};

struct TreeOptions {
  TreeDirection direction = TreeDirection::kCallees;
  // By convert::FrameId: the frames at which the tree starts. Stacks without such a frame are left
  // out. If such frames call each other, callees start at the outermost one, callers at the
  // innermost one. Empty: all stacks, whole.
  std::vector<bool> start_at = {};
};

using TreeNodeId = std::uint32_t;  // 0 is the root, which is not a frame

struct TreeNode {
  convert::FrameId frame = {};
  TreeNodeId parent = 0;
  Amount self = {};   // of samples whose path ends here
  Amount total = {};  // of samples whose path contains this node
};

class CallTree {
 public:
  CallTree(const convert::Profile& profile, const convert::FrameTable& frames,
           const StackAmounts& amounts, const TreeOptions& options);

  const TreeNode& operator[](TreeNodeId node) const { return nodes_[node]; }
  std::size_t size() const { return nodes_.size(); }
  // The largest total is first; then by name. Valid as long as this object.
  std::span<const TreeNodeId> ChildrenOf(TreeNodeId node) const {
    return std::span(children_).subspan(begins_[node], begins_[node + 1] - begins_[node]);
  }

 private:
  void SortChildren(const convert::FrameTable& frames);

  std::vector<TreeNode> nodes_ = {{}};  // parents before their children
  std::vector<TreeNodeId> children_;
  std::vector<std::uint32_t> begins_;  // in children_, by node, and the end
};

// Returns the nodes with the largest `self`, at most `most`: the end of each of the most frequent
// stacks, if the tree has whole stacks from callers to callees.
std::vector<TreeNodeId> LargestStacks(const CallTree& tree, std::size_t most);

}  // namespace perftape::summarize
