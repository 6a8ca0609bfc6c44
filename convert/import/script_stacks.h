// SPDX-License-Identifier: Apache-2.0
// The stacks of samples in the text of perf script. Each line of a frame is resolved once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "convert/model/profile_builder.h"
#include "formats/script/frame_line.h"

namespace perftape::convert {

class ScriptStacks {
 public:
  // Adds to `builder`, which must outlive this object.
  explicit ScriptStacks(ProfileBuilder& builder);
  ~ScriptStacks();

  // Returns the stack of these frames, innermost first. In a text of perftape, a stack without
  // frames is one of an unknown frame at address 0.
  StackId Add(std::span<const script::Frame> frames, script::Writer writer);
  // The number of frames in no mapping of all stacks that were added.
  std::uint64_t unmapped_frames() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace perftape::convert
