// SPDX-License-Identifier: Apache-2.0
// The lines of a folded file as a tree of their frames, before they are sorted.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/frames/stack_trie.h"
#include "convert/model/profile.h"

namespace perftape::convert {

constexpr auto kNoText = std::numeric_limits<TextId>::max();

// The numbers of a line.
using Sums = std::array<std::int64_t, 2>;

struct LineFrame {
  TextId text = kNoText;
  std::uint32_t line = 0;  // the index of its sums; 0 if no line ends here
};

// Root frames (comm, pid) are nodes too. Siblings may have the same text if their addresses differ,
// or if the root was started more than once.
class LineTree {
 public:
  using Node = StackTrie<LineFrame>::Node;

  LineTree(const Profile& profile, FrameTexts& texts) : trie_(profile), texts_(texts) {}

  // Sets the root frame of all stacks that are added from now on; kNoText means none.
  void StartRoot(TextId text);
  // Adds `value` to a column of the stack's line.
  void Add(StackId stack, std::size_t column, std::int64_t value);

  const Node& operator[](std::uint32_t node) const { return trie_[node]; }
  const Sums& SumsOf(const Node& node) const { return sums_[node.line]; }
  std::span<const Node> nodes() const { return trie_.nodes(); }

 private:
  StackTrie<LineFrame> trie_;
  FrameTexts& texts_;
  std::vector<Sums> sums_ = {{}};
};

}  // namespace perftape::convert
