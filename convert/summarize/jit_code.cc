// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/jit_code.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

namespace perftape::summarize {
namespace {

using convert::Profile;
using convert::Sample;
using convert::StackId;
using perf_map::JitRuntime;

class Runtimes {
 public:
  void Add(std::string_view path_or_comm) {
    const JitRuntime* const runtime = perf_map::FindJitRuntime(path_or_comm);
    if (runtime != nullptr && std::ranges::find(found_, runtime) == found_.end()) {
      found_.push_back(runtime);
    }
  }
  std::vector<const JitRuntime*> Release() && { return std::move(found_); }
  bool empty() const { return found_.empty(); }

 private:
  std::vector<const JitRuntime*> found_;
};

}  // namespace

std::vector<const JitRuntime*> FindRuntimes(const Profile& profile) {
  Runtimes runtimes;
  for (const convert::Mapping& mapping : profile.mappings()) {
    runtimes.Add(profile.text(mapping.filename));
  }
  return std::move(runtimes).Release();
}

std::vector<const JitRuntime*> FindRuntimes(const Profile& profile,
                                            const convert::FrameTable& frames,
                                            convert::EventId event, convert::StringId filename) {
  Runtimes runtimes;
  std::unordered_set<std::uint32_t> seen_stacks, seen_threads;
  for (const Sample& sample : profile.samples()) {
    if (sample.event != event || sample.stack == StackId{}) continue;
    const convert::FrameId leaf = frames.Of(profile[sample.stack].leaf).front();
    if (frames[leaf].has_name || frames[leaf].dso != filename) continue;
    if (seen_threads.insert(sample.thread.index).second) {
      runtimes.Add(profile.text(profile[sample.thread].comm));
    }
    for (StackId stack = sample.stack; stack != StackId{}; stack = profile[stack].caller) {
      if (!seen_stacks.insert(stack.index).second) break;
      const convert::Location& location = profile[profile[stack].leaf];
      runtimes.Add(profile.text(profile[location.mapping].filename));
    }
  }
  return runtimes.empty() ? FindRuntimes(profile) : std::move(runtimes).Release();
}

}  // namespace perftape::summarize
