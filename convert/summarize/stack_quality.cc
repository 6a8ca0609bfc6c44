// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/stack_quality.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "formats/perfdata/event_meanings.h"
#include "formats/perfdata/latency_probes.h"
#include "formats/perfdata/mapping_name.h"

namespace perftape::summarize {

using convert::StackId;

namespace {

// Whether it is the only frame of a sample that sums waits or calls, which has no stack.
bool IsSum(const convert::Frame& frame) {
  return frame.name == perfdata::kShortWaits || frame.name == perfdata::kFastCalls;
}

// The files and other mappings in which a frame has a name.
std::set<convert::StringId> NamedDsos(const convert::FrameTable& frames) {
  std::set<convert::StringId> named;
  for (convert::FrameId frame = 0; frame < frames.size(); ++frame) {
    if (frames[frame].has_name) named.insert(frames[frame].dso);
  }
  return named;
}

}  // namespace

StackQuality JudgeStacks(const convert::Profile& profile, const convert::FrameTable& frames,
                         const StackAmounts& amounts) {
  StackQuality quality;
  quality.without_frames = amounts[StackId{}];
  std::set<std::vector<convert::FrameId>> distinct;
  std::vector<convert::FrameId> path;
  double frames_of_all = 0;
  const std::set<convert::StringId> named_dsos = NamedDsos(frames);
  for (std::uint32_t stack = 1; stack < profile.stacks().size(); ++stack) {
    const Amount& amount = amounts[StackId{stack}];
    if (amount.is_zero()) continue;
    path.clear();
    convert::AppendFrames(profile, frames, StackId{stack}, path);
    distinct.insert(path);
    const auto count = static_cast<double>(amount.samples != 0 ? amount.samples : amount.weight);
    frames_of_all += static_cast<double>(path.size()) * std::abs(count);
    if (path.size() == 1 && !IsSum(frames[path.front()])) {
      quality.with_one_frame.Add(amount);
    }
    const convert::FrameId root = path.back();
    const bool is_user = frames[root].type != convert::FrameType::kKernel;
    if (is_user && !frames[root].has_name) {
      quality.with_unnamed_root.Add(amount);
      const convert::StringId dso = frames[root].dso;
      const bool is_file = perfdata::IsFilePath(profile.text(dso));
      if (is_file && !named_dsos.contains(dso)) quality.with_root_in_unnamed_file.Add(amount);
    }
    if (!frames[path.front()].has_name) quality.unnamed.Add(amount);
  }
  const Amount& all = amounts.whole();
  const std::int64_t count = all.samples != 0 ? all.samples : all.weight;
  quality.distinct = distinct.size();
  quality.average_frames = count == 0 ? 0 : frames_of_all / static_cast<double>(count);
  return quality;
}

std::vector<UnnamedBinary> SumUnnamed(const convert::Profile& profile,
                                      const convert::FrameTable& frames,
                                      const StackAmounts& amounts) {
  std::map<convert::StringId, Amount> sums;
  for (std::uint32_t stack = 1; stack < profile.stacks().size(); ++stack) {
    const Amount& amount = amounts[StackId{stack}];
    if (amount.is_zero()) continue;
    const convert::FrameId leaf = frames.Of(profile[StackId{stack}].leaf).front();
    if (!frames[leaf].has_name) sums[frames[leaf].dso].Add(amount);
  }
  std::vector<UnnamedBinary> binaries;
  for (const auto& [filename, amount] : sums) {
    binaries.push_back({.filename = filename, .amount = amount});
  }
  std::ranges::sort(binaries, [&](const UnnamedBinary& a, const UnnamedBinary& b) {
    const std::string_view one = profile.text(a.filename);
    const std::string_view other = profile.text(b.filename);
    return std::tie(b.amount.weight, one) < std::tie(a.amount.weight, other);
  });
  return binaries;
}

}  // namespace perftape::summarize
