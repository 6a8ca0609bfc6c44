// SPDX-License-Identifier: Apache-2.0
// Writes a LineTree as sorted lines, on several threads.
#pragma once

#include <array>
#include <cstddef>

#include "convert/export/frame_texts.h"
#include "convert/export/line_tree.h"
#include "convert/model/profile.h"
#include "formats/base/file.h"
#include "formats/base/result.h"

namespace perftape::convert {

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
