// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/functions.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace perftape::summarize {

using convert::StackId;

std::vector<FunctionAmounts> SumFunctions(const convert::Profile& profile, const FrameTable& frames,
                                          const StackAmounts& amounts) {
  std::vector<FunctionAmounts> all(frames.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i].frame = FrameId{i};
  std::vector<std::uint32_t> last_stacks(frames.size());  // in which each frame was counted last
  std::vector<FrameId> path;
  for (std::uint32_t stack = 1; stack < profile.stacks().size(); ++stack) {
    const Amount& amount = amounts[StackId{stack}];
    if (amount.is_zero()) continue;
    path.clear();
    AppendFrames(profile, frames, StackId{stack}, path);
    all[path.front().index].self.Add(amount);
    for (const FrameId frame : path) {
      if (last_stacks[frame.index] == stack) continue;
      last_stacks[frame.index] = stack;
      all[frame.index].inclusive.Add(amount);
    }
  }
  std::erase_if(all, [](const FunctionAmounts& function) { return function.inclusive.is_zero(); });
  std::vector<std::string> names(frames.size());
  for (const FunctionAmounts& function : all) {
    names[function.frame.index] = frames.NameOf(function.frame);
  }
  std::ranges::sort(all, [&](const FunctionAmounts& a, const FunctionAmounts& b) {
    return std::tie(b.self.weight, b.inclusive.weight, names[a.frame.index], a.frame) <
           std::tie(a.self.weight, a.inclusive.weight, names[b.frame.index], b.frame);
  });
  return all;
}

void SortByInclusive(std::vector<FunctionAmounts>& functions) {
  std::ranges::stable_sort(functions, std::greater(), [](const FunctionAmounts& function) {
    return function.inclusive.weight;
  });
}

}  // namespace perftape::summarize
