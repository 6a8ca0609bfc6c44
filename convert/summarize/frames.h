// SPDX-License-Identifier: Apache-2.0
// The frames of a profile by name: all addresses in one function of one binary are one frame, also
// where the function is inlined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "convert/model/profile.h"

namespace perftape::summarize {

using FrameId = convert::Id<struct FrameTag>;

struct Frame {
  convert::StringId function = {};  // its name; empty if unknown
  convert::StringId binary = {};    // the filename of its mapping; empty without a mapping
  convert::MappingType type = {};
  auto operator<=>(const Frame&) const = default;
};

class FrameTable {
 public:
  // `profile` must outlive this object.
  explicit FrameTable(const convert::Profile& profile);

  // Returns the frames of a location, innermost first; several if calls were inlined. Valid as long
  // as this object.
  std::span<const FrameId> Of(convert::LocationId location) const {
    const std::uint32_t begin = begins_[location.index];
    return std::span(of_locations_).subspan(begin, begins_[location.index + 1] - begin);
  }
  const Frame& operator[](FrameId frame) const { return frames_[frame.index]; }
  std::size_t size() const { return frames_.size(); }

  // Returns the function. For a frame without a name, returns "[libc.so.6]", or "[unknown]".
  std::string NameOf(FrameId frame) const;
  bool HasName(FrameId frame) const { return frames_[frame.index].function != convert::StringId{}; }
  // Returns the last component of the binary's path.
  std::string_view BinaryOf(FrameId frame) const;

 private:
  const convert::Profile& profile_;
  std::vector<Frame> frames_;
  std::vector<FrameId> of_locations_;
  std::vector<std::uint32_t> begins_;  // in of_locations_, by LocationId, and the end
};

// Appends the frames of a stack to `frames`, leaf first.
void AppendFrames(const convert::Profile& profile, const FrameTable& table, convert::StackId stack,
                  std::vector<FrameId>& frames);

}  // namespace perftape::summarize
