// SPDX-License-Identifier: Apache-2.0
// The frames of a flame graph: those of a profile (convert/frames), and the root frames, which name
// threads.
#pragma once

#include "convert/export/frame_texts.h"
#include "convert/export/to_folded.h"
#include "convert/frames/frame_table.h"
#include "convert/model/profile.h"
#include "formats/base/unknown_name.h"

namespace perftape::flame_graph {

using convert::Frame;
using convert::FrameId;
using convert::FrameType;

class FrameTable : public convert::FrameTable {
 public:
  // `profile` must outlive this object. Of `options`, only mark_kernel is ignored.
  FrameTable(const convert::Profile& profile, const convert::FoldedOptions& options);

  // Returns the root frame of this text.
  FrameId OfRoot(convert::TextId text) { return Add(texts_[text], FrameType::kThread); }
  // Returns the frame of a stack without frames.
  FrameId OfNoFrames() { return Add(kUnknownName, FrameType::kUser); }

  // The texts of root frames.
  convert::FrameTexts& texts() { return texts_; }
  const convert::FoldedOptions& options() const { return options_; }

 private:
  const convert::FoldedOptions options_;
  convert::FrameTexts texts_;
};

}  // namespace perftape::flame_graph
