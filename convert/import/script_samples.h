// SPDX-License-Identifier: Apache-2.0
// Completes the samples of a text of perf script before they are added to a profile: joins user
// frames that follow later, and resolves stacks.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "convert/model/profile_builder.h"
#include "formats/script/frame_line.h"
#include "formats/script/reader.h"

namespace perftape::convert {

// Joins the samples of a text of `perf script --no-merge-callchains` with their user frames, which
// follow later (formats/script/deferred.h). The rule is perf's: see sample_completion.h.
class DeferredScriptSamples {
 public:
  using Sink = std::function<void(const script::Sample&)>;

  // Calls `sink` with each sample when it is complete, not in the order of the text.
  explicit DeferredScriptSamples(Sink sink) : sink_(std::move(sink)) {}

  // Adds the next sample of the text, which may be changed. Keeps a copy of a sample that waits.
  void Add(script::Sample& sample);
  // Ends the text: passes on the samples that are still waiting.
  void Finish();

  // The number of samples whose user frames are not in the text.
  std::uint64_t without_user_frames() const { return without_user_frames_; }

 private:
  // A sample with its texts. It must not be copied: its views are of its own texts.
  struct Held {
    std::uint64_t cookie = 0;
    script::Sample sample;
    std::deque<std::string> texts;  // views of them remain valid when one is added
  };

  void Hold(const script::Sample& sample, std::uint64_t cookie);
  void Release(const script::Sample& user_frames, std::uint64_t cookie);
  void PassWithoutUserFrames(const script::Sample& sample);

  Sink sink_;
  std::unordered_map<std::uint32_t, std::list<Held>> held_;  // by tid
  std::uint64_t without_user_frames_ = 0;
};

// The stacks of samples in the text of perf script. Each line of a frame is resolved once.
class ScriptStacks {
 public:
  // Adds to `builder`, which must outlive this object.
  explicit ScriptStacks(ProfileBuilder& builder);
  ~ScriptStacks();

  // Returns the stack of these frames, innermost first. In a text of perftape, a stack that
  // consists of an unknown frame at address 0 is a stack without frames.
  StackId Add(std::span<const script::Frame> frames, script::Writer writer);
  // The number of frames in no mapping, in all stacks that were added.
  std::uint64_t unmapped_frames() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace perftape::convert
