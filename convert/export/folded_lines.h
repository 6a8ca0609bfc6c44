// SPDX-License-Identifier: Apache-2.0
// The lines of a folded file: as a tree of their frames, and sorted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/frames/stack_trie.h"
#include "convert/model/profile.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::convert {

// The numbers of a line.
using Sums = std::array<std::int64_t, 2>;

struct LineFrame {
  TextId text = kNoText;
  std::uint32_t line = 0;  // the index of its sums; 0 if no line ends here
};

// The lines before they are sorted. Root frames (comm, pid) are nodes too. Siblings may have the
// same text if their addresses differ, or if the root was started more than once. Frames have their
// offsets with AddressKinds::kApart.
class LineTree {
 public:
  using Node = StackTrie<LineFrame>::Node;

  LineTree(const Profile& profile, FrameTexts& texts, AddressKinds kinds)
      : trie_(profile, kinds), texts_(texts), has_offsets_(kinds == AddressKinds::kApart) {}

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
  const bool has_offsets_;  // of frames in their symbols
  std::vector<Sums> sums_ = {{}};
};

// The events whose numbers a line contains.
struct FoldedColumns {
  std::array<EventId, 2> events = {};
  std::size_t count = 0;  // number of events
};

struct FoldedLines {
  const Profile& profile;
  const FoldedColumns& columns;
  const LineTree& tree;
  const FrameKeys& keys;  // of the texts in the tree
};

// Writes the lines in byte order. Lines of equal text are joined. The output does not depend on
// `threads`. Fails as the output does.
Status WriteLines(const FoldedLines& lines, unsigned threads, OutputFile& out);

}  // namespace perftape::convert
