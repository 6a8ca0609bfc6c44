// SPDX-License-Identifier: Apache-2.0
// The root frames of samples: the frame below the outermost function, which names the thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/export/line_tree.h"
#include "convert/model/profile.h"
#include "formats/folded/root.h"

namespace perftape::convert {

struct RootedSample {
  std::uint32_t sample = 0;  // its index in Profile::samples
  TextId root = kNoText;     // kNoText if its thread is unknown, or if `root` is kNone
};

// Returns the samples of `events`, grouped by their root frame; within a group in their old order.
// Samples without a root frame come first. Adds the texts of the root frames to `texts`.
std::vector<RootedSample> SamplesByRoot(const Profile& profile, std::span<const EventId> events,
                                        folded::Root root, FrameTexts& texts);

}  // namespace perftape::convert
