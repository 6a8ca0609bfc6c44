// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/frames.h"

#include <map>

namespace perftape::summarize {

using convert::Line;
using convert::Location;
using convert::StackId;

FrameTable::FrameTable(const convert::Profile& profile) : profile_(profile) {
  std::map<Frame, FrameId> ids;
  const auto add = [&](const Frame& frame) {
    const auto next = FrameId{static_cast<std::uint32_t>(frames_.size())};
    const auto [known, is_new] = ids.try_emplace(frame, next);
    if (is_new) frames_.push_back(frame);
    of_locations_.push_back(known->second);
  };
  for (const Location& location : profile.locations()) {
    begins_.push_back(static_cast<std::uint32_t>(of_locations_.size()));
    const convert::Mapping& mapping = profile[location.mapping];
    Frame frame = {.function = {}, .binary = mapping.filename, .type = mapping.type};
    if (location.lines.empty()) add(frame);
    for (const Line& line : location.lines) {
      frame.function = profile[line.function].name;
      add(frame);
    }
  }
  begins_.push_back(static_cast<std::uint32_t>(of_locations_.size()));
}

std::string FrameTable::NameOf(FrameId id) const {
  const Frame& frame = frames_[id.index];
  if (HasName(id)) return std::string(profile_.text(frame.function));
  return convert::NameOfUnresolved(profile_.text(frame.binary));
}

std::string_view FrameTable::BinaryOf(FrameId frame) const {
  return convert::BaseName(profile_.text(frames_[frame.index].binary));
}

void AppendFrames(const convert::Profile& profile, const FrameTable& table, StackId stack,
                  std::vector<FrameId>& frames) {
  for (; stack != StackId{}; stack = profile[stack].caller) {
    const auto of_location = table.Of(profile[stack].leaf);
    frames.insert(frames.end(), of_location.begin(), of_location.end());
  }
}

}  // namespace perftape::summarize
