// SPDX-License-Identifier: Apache-2.0
#include "convert/import/deferred_script.h"

#include <string_view>
#include <utility>

#include "formats/script/deferred.h"

namespace perftape::convert {

void DeferredScriptSamples::Add(script::Sample& sample) {
  if (const auto cookie = script::CookieOfUserFrames(sample.head)) return Release(sample, *cookie);
  const auto cookie = script::RemoveCookie(sample.frames);
  cookie ? Hold(sample, *cookie) : sink_(sample);
}

void DeferredScriptSamples::Hold(const script::Sample& sample, std::uint64_t cookie) {
  Held held = {.cookie = cookie, .sample = sample, .texts = {}};
  const auto keep = [&](std::string_view& text) { text = held.texts.emplace_back(text); };
  keep(held.sample.head.comm);
  keep(held.sample.head.event);
  keep(held.sample.head.rest);
  for (script::Frame& frame : held.sample.frames) {
    keep(frame.symbol);
    keep(frame.dso);
    keep(frame.source_file);
    keep(frame.text);
  }
  held_[sample.head.tid].push_back(std::move(held));
}

void DeferredScriptSamples::Release(const script::Sample& user_frames, std::uint64_t cookie) {
  const auto found = held_.find(user_frames.head.tid);
  if (found == held_.end()) return;
  for (Held& held : found->second) {
    if (held.cookie != cookie) {
      PassWithoutUserFrames(held.sample);
      continue;
    }
    std::vector<script::Frame>& frames = held.sample.frames;
    frames.insert(frames.end(), user_frames.frames.begin(), user_frames.frames.end());
    sink_(held.sample);
  }
  held_.erase(found);
}

void DeferredScriptSamples::PassWithoutUserFrames(const script::Sample& sample) {
  ++without_user_frames_;
  sink_(sample);
}

void DeferredScriptSamples::Finish() {
  for (const auto& [tid, samples] : held_) {
    for (const Held& held : samples) PassWithoutUserFrames(held.sample);
  }
  held_.clear();
}

}  // namespace perftape::convert
