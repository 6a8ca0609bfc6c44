// SPDX-License-Identifier: Apache-2.0
// The stacks of a profile as a tree: a caller that several stacks have in common is one node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::convert {

// Whether a stack that is the callers of a frame has a different node than the same stack of a
// sample. Its leaf is a return address only as a caller.
enum class AddressKinds : std::uint8_t { kShared, kApart };

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
  explicit StackTrie(const Profile& profile, AddressKinds kinds = AddressKinds::kShared)
      : profile_(profile),
        kinds_(kinds),
        of_stacks_(profile.stacks().size() * (kinds == AddressKinds::kApart ? 2 : 1)) {}

  // Sets the node below which all stacks are added from now on: a root frame, or 0. They share no
  // nodes with stacks that were added before.
  void StartBelow(std::uint32_t node) {
    base_ = node;
    begin_ = static_cast<std::uint32_t>(nodes_.size());
  }

  // Returns the node at which a stack ends: the one of StartBelow if the stack has no frames. Adds
  // the nodes that are missing. add_frames(node, location, kind) adds those of a location's frames,
  // root first, below `node`, and returns the last. The kind is of use with AddressKinds::kApart.
  template <class AddFrames>
  std::uint32_t NodeOf(StackId stack, AddFrames add_frames) {
    path_.clear();
    AddressKind kind = AddressKind::kInstruction;
    // A node before `begin_` belongs to an earlier root.
    while (stack != StackId{} && of_stacks_[SlotOf(stack, kind)] < begin_) {
      path_.push_back({stack, kind});
      if (kinds_ == AddressKinds::kApart) kind = profile_.CallerAddress(stack);
      stack = profile_[stack].caller;
    }
    std::uint32_t node = stack == StackId{} ? base_ : of_stacks_[SlotOf(stack, kind)];
    for (; !path_.empty(); path_.pop_back()) {
      const Step& step = path_.back();
      node = add_frames(node, profile_[step.stack].leaf, step.kind);
      of_stacks_[SlotOf(step.stack, step.kind)] = node;
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
  struct Step {
    StackId stack = {};
    AddressKind kind = AddressKind::kInstruction;
  };

  std::size_t SlotOf(StackId stack, AddressKind kind) const {
    return stack.index + (kind == AddressKind::kReturn ? profile_.stacks().size() : 0);
  }

  const Profile& profile_;
  const AddressKinds kinds_;
  std::vector<Node> nodes_ = {{}};
  std::uint32_t base_ = 0;                // the parent of the outermost frames
  std::uint32_t begin_ = 1;               // the first node below base_
  std::vector<std::uint32_t> of_stacks_;  // nodes, by slot
  std::vector<Step> path_;                // scratch of NodeOf
};

}  // namespace perftape::convert
