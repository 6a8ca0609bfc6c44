// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/functions.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace perftape::summarize {

using convert::StackId;

std::vector<FunctionAmounts> SumFunctions(const convert::Profile& profile,
                                          const convert::FrameTable& frames,
                                          const StackAmounts& amounts) {
  std::vector<FunctionAmounts> all(frames.size());
  for (std::uint32_t i = 0; i < all.size(); ++i) all[i].frame = i;
  std::vector<std::uint32_t> last_stacks(frames.size());  // in which each frame was counted last
  std::vector<convert::FrameId> path;
  for (std::uint32_t stack = 1; stack < profile.stacks().size(); ++stack) {
    const Amount& amount = amounts[StackId{stack}];
    if (amount.is_zero()) continue;
    path.clear();
    convert::AppendFrames(profile, frames, StackId{stack}, path);
    all[path.front()].self.Add(amount);
    for (const convert::FrameId frame : path) {
      if (last_stacks[frame] == stack) continue;
      last_stacks[frame] = stack;
      all[frame].inclusive.Add(amount);
    }
  }
  std::erase_if(all, [](const FunctionAmounts& function) { return function.inclusive.is_zero(); });
  std::ranges::sort(all, [&](const FunctionAmounts& a, const FunctionAmounts& b) {
    return std::tuple(b.self.weight, b.inclusive.weight, frames.NameOf(a.frame), a.frame) <
           std::tuple(a.self.weight, a.inclusive.weight, frames.NameOf(b.frame), b.frame);
  });
  return all;
}

void SortByInclusive(std::vector<FunctionAmounts>& functions) {
  std::ranges::stable_sort(functions, std::greater(), [](const FunctionAmounts& function) {
    return function.inclusive.weight;
  });
}

}  // namespace perftape::summarize
