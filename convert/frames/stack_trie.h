// SPDX-License-Identifier: Apache-2.0
// The stacks of a profile as a tree: a caller that several stacks have in common is one node.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::convert {

// `Content` is what its user keeps in a node: the frame, and numbers. Node 0 is above all others,
// and has no frame. A parent comes before its children. Siblings may have equal frames, because
// several locations are the same function.
template <class Content>
class StackTrie {
 public:
  struct Node : Content {
    std::uint32_t first_child = 0, next_sibling = 0;  // 0 is none
  };

  // `profile` must outlive this object.
  explicit StackTrie(const Profile& profile)
      : profile_(profile), of_stacks_(profile.stacks().size()) {}

  // Sets the node below which all stacks are added from now on: a root frame, or 0. They share no
  // nodes with the stacks of before.
  void StartBelow(std::uint32_t node) {
    base_ = node;
    begin_ = static_cast<std::uint32_t>(nodes_.size());
  }

  // Returns the node at which a stack ends: the one of StartBelow if the stack has no frames. Adds
  // the nodes that are missing. add_frames(node, location) adds those of a location's frames, root
  // first, below `node`, and returns the last.
  template <class AddFrames>
  std::uint32_t NodeOf(StackId stack, AddFrames add_frames) {
    path_.clear();
    // A node before `begin_` belongs to an earlier root.
    for (; stack != StackId{} && of_stacks_[stack.index] < begin_; stack = profile_[stack].caller) {
      path_.push_back(stack);
    }
    std::uint32_t node = stack == StackId{} ? base_ : of_stacks_[stack.index];
    for (; !path_.empty(); path_.pop_back()) {
      node = add_frames(node, profile_[path_.back()].leaf);
      of_stacks_[path_.back().index] = node;
    }
    return node;
  }

  std::uint32_t AddChild(std::uint32_t parent, const Content& content) {
    const auto node = static_cast<std::uint32_t>(nodes_.size());
    nodes_.push_back({content, 0, nodes_[parent].first_child});
    nodes_[parent].first_child = node;
    return node;
  }

  Node& operator[](std::uint32_t node) { return nodes_[node]; }
  const Node& operator[](std::uint32_t node) const { return nodes_[node]; }
  std::span<const Node> nodes() const { return nodes_; }
  std::vector<Node> Finish() && { return std::move(nodes_); }

 private:
  const Profile& profile_;
  std::vector<Node> nodes_ = {{}};
  std::uint32_t base_ = 0;                // the parent of the outermost frames
  std::uint32_t begin_ = 1;               // the first node below base_
  std::vector<std::uint32_t> of_stacks_;  // nodes, by StackId
  std::vector<StackId> path_;             // scratch of NodeOf
};

}  // namespace perftape::convert
