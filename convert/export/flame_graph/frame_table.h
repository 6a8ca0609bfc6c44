// SPDX-License-Identifier: Apache-2.0
// The frames of a flame graph: functions, with what colours them and what is shown about them.
#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "convert/export/frame_texts.h"
#include "convert/export/to_folded.h"
#include "convert/model/profile.h"

namespace perftape::flame_graph {

// The numbers are part of the page's format (page/tree.js).
enum class FrameType : std::uint8_t {
  kThread = 0,  // a root frame: comm, pid, tid
  kUser = 1,
  kKernel = 2,
  kInlined = 3,  // a call that the compiler replaced by the function's code
  kJit = 4,      // code of a just-in-time compiler
};

using FrameId = std::uint32_t;

struct Frame {
  convert::TextId name = 0;
  FrameType type = FrameType::kUser;
  convert::StringId dso = {};     // path of the mapped file; empty if unknown
  convert::StringId source = {};  // source file; empty if unknown
  std::int64_t first_line = 0;    // of the lines that were hit; 0 if unknown
  std::int64_t last_line = 0;
};

// Frames are equal if their name, type and dso are. The source lines of equal frames are joined.
class FrameTable {
 public:
  // `profile` must outlive this object. Of `options`, only mark_kernel is ignored.
  FrameTable(const convert::Profile& profile, const convert::FoldedOptions& options);
  FrameTable(const FrameTable&) = delete;
  FrameTable& operator=(const FrameTable&) = delete;

  // Returns the frames of a location, root first; several if calls were inlined. Valid until the
  // next call.
  std::span<const FrameId> Of(convert::LocationId location);
  // Returns the root frame of this text.
  FrameId OfRoot(convert::TextId text);
  // Returns the frame of a stack without frames.
  FrameId OfNoFrames();

  const Frame& operator[](FrameId frame) const { return frames_[frame]; }
  std::size_t size() const { return frames_.size(); }
  // Valid until the next frame is added.
  std::string_view NameOf(FrameId frame) const { return texts_[frames_[frame].name]; }
  convert::FrameTexts& texts() { return texts_; }
  const convert::FoldedOptions& options() const { return options_; }

  // Returns ranks from 0, by FrameId: by name, type and dso.
  std::vector<std::uint32_t> Ranks() const;

 private:
  using Range = std::pair<std::uint32_t, std::uint32_t>;  // of of_locations_

  void AddFramesOf(const convert::Location& location, std::span<const convert::TextId> names);
  FrameId Intern(const Frame& frame);
  void JoinSource(Frame& known, const Frame& frame) const;

  const convert::Profile& profile_;
  const convert::FoldedOptions options_;
  convert::FrameTexts texts_;
  std::vector<Frame> frames_;
  tsl::robin_map<std::uint64_t, std::vector<FrameId>> ids_;  // by name and type
  std::vector<FrameId> of_locations_;
  std::vector<Range> ranges_;           // by LocationId; empty if not looked up yet
  std::vector<FrameType> of_mappings_;  // the type of a frame that is not inlined, by MappingId
};

}  // namespace perftape::flame_graph
