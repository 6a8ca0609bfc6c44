// SPDX-License-Identifier: Apache-2.0
#include "convert/export/line_tree.h"

#include "convert/model/saturating.h"

namespace perftape::convert {

void LineTree::StartRoot(TextId text) {
  base_ = text == kNoText ? 0 : AddChild(0, text);
  begin_ = static_cast<std::uint32_t>(nodes_.size());
}

void LineTree::Add(StackId stack, std::size_t column, std::int64_t value) {
  std::uint32_t node = NodeOf(stack);
  if (node == 0) node = AddChild(0, texts_.Intern("[unknown]"));
  std::uint32_t& line = nodes_[node].line;
  if (line == 0) {
    line = static_cast<std::uint32_t>(sums_.size());
    sums_.push_back({});
  }
  sums_[line][column] = AddUpToLimit(sums_[line][column], value);
}

std::uint32_t LineTree::AddChild(std::uint32_t parent, TextId text) {
  const auto node = static_cast<std::uint32_t>(nodes_.size());
  nodes_.push_back({.text = text, .next_sibling = nodes_[parent].first_child});
  nodes_[parent].first_child = node;
  return node;
}

std::uint32_t LineTree::NodeOf(StackId stack) {
  path_.clear();
  // A node below `begin_` belongs to an earlier root.
  for (; stack != StackId{} && of_stacks_[stack.index] < begin_; stack = profile_[stack].caller) {
    path_.push_back(stack);
  }
  std::uint32_t node = stack == StackId{} ? base_ : of_stacks_[stack.index];
  for (; !path_.empty(); path_.pop_back()) {
    for (const TextId text : texts_.Of(profile_[path_.back()].leaf)) node = AddChild(node, text);
    of_stacks_[path_.back().index] = node;
  }
  return node;
}

}  // namespace perftape::convert
