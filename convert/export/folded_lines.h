// SPDX-License-Identifier: Apache-2.0
// Writes a tree of lines, sorted, by several threads.
#pragma once

#include <array>
#include <cstddef>

#include "convert/export/frame_texts.h"
#include "convert/export/line_tree.h"
#include "convert/model/profile.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::convert {

// The events that the numbers of a line are of.
struct FoldedColumns {
  std::array<EventId, 2> events = {};
  std::size_t count = 0;  // of the events
};

struct FoldedLines {
  const Profile& profile;
  const FoldedColumns& columns;
  const LineTree& tree;
  const FrameKeys& keys;  // of the texts in the tree
};

// In the order of their bytes, those of equal texts as one. What is written does not depend on
// `threads`. Fails as the output does.
Status WriteLines(const FoldedLines& lines, unsigned threads, OutputFile& out);

}  // namespace perftape::convert
