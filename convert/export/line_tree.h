// SPDX-License-Identifier: Apache-2.0
// The lines of a folded file as a tree of their frames, before they are sorted.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/model/profile.h"

namespace perftape::convert {

constexpr auto kNoText = std::numeric_limits<TextId>::max();

// The numbers of a line.
using Sums = std::array<std::int64_t, 2>;

// Root frames (comm, pid) are nodes too. Siblings may have the same text if their addresses differ,
// or if the root was started more than once.
class LineTree {
 public:
  struct Node {
    TextId text = kNoText;
    std::uint32_t first_child = 0, next_sibling = 0;  // 0 is none
    std::uint32_t line = 0;                           // index in sums_; 0 if no line ends here
  };

  LineTree(const Profile& profile, FrameTexts& texts)
      : profile_(profile), texts_(texts), of_stacks_(profile.stacks().size()) {}

  // Sets the root frame of all stacks that are added from now on; kNoText means none.
  void StartRoot(TextId text);
  // Adds `value` to a column of the stack's line.
  void Add(StackId stack, std::size_t column, std::int64_t value);

  const Node& operator[](std::uint32_t node) const { return nodes_[node]; }
  const Sums& SumsOf(const Node& node) const { return sums_[node.line]; }
  std::span<const Node> nodes() const { return nodes_; }

 private:
  std::uint32_t AddChild(std::uint32_t parent, TextId text);
  std::uint32_t NodeOf(StackId stack);

  const Profile& profile_;
  FrameTexts& texts_;
  std::vector<Node> nodes_ = {{}};
  std::vector<Sums> sums_ = {{}};
  std::uint32_t base_ = 0;                // the parent of the outermost frames
  std::uint32_t begin_ = 1;               // the first node below base_
  std::vector<std::uint32_t> of_stacks_;  // nodes, by StackId
  std::vector<StackId> path_;             // scratch of NodeOf
};

}  // namespace perftape::convert
