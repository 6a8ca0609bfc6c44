// SPDX-License-Identifier: Apache-2.0
// Joins the samples of a text of `perf script --no-merge-callchains` with their user frames, which
// follow later (formats/script/deferred.h). The rule is perf's: see sample_completion.h.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <string>
#include <unordered_map>

#include "formats/script/reader.h"

namespace perftape::convert {

class DeferredScriptSamples {
 public:
  using Sink = std::function<void(const script::Sample&)>;

  // Calls `sink` with each sample when it is complete, not in the order of the text.
  explicit DeferredScriptSamples(Sink sink) : sink_(std::move(sink)) {}

  // Adds the next sample of the text, which may be changed. Keeps a copy of a sample that waits.
  void Add(script::Sample& sample);
  // Ends the text: passes on the samples that still wait.
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

}  // namespace perftape::convert
