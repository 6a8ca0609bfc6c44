// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/source_lines.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace perftape::summarize {
namespace {

using convert::Line;
using convert::Location;
using convert::StackId;

struct LineKey {
  convert::FrameId frame = {};
  convert::StringId filename = {};
  std::int64_t number = 0;
  auto operator<=>(const LineKey&) const = default;
};

// Appends the keys of a location, innermost first.
void AppendLines(const convert::Profile& profile, const convert::FrameTable& frames,
                 convert::LocationId location, const std::vector<bool>& selected,
                 std::vector<std::optional<LineKey>>& keys) {
  const std::span<const convert::FrameId> of_location = frames.Of(location);
  const std::span<const Line> lines = profile[location].lines;
  for (std::size_t i = 0; i < of_location.size(); ++i) {
    if (!selected[of_location[i]]) {
      keys.emplace_back();
      continue;
    }
    LineKey key = {.frame = of_location[i], .filename = {}, .number = 0};
    if (!lines.empty()) {
      key.filename = profile[lines[i].function].filename;
      key.number = lines[i].number;
    }
    keys.emplace_back(key);
  }
}

}  // namespace

std::vector<LineAmounts> SumLines(const convert::Profile& profile,
                                  const convert::FrameTable& frames, const StackAmounts& amounts,
                                  const std::vector<bool>& selected) {
  std::map<LineKey, LineAmounts> sums;
  std::vector<std::optional<LineKey>> keys;
  for (std::uint32_t index = 1; index < profile.stacks().size(); ++index) {
    const Amount& amount = amounts[StackId{index}];
    if (amount.is_zero()) continue;
    keys.clear();
    for (StackId stack{index}; stack != StackId{}; stack = profile[stack].caller) {
      AppendLines(profile, frames, profile[stack].leaf, selected, keys);
    }
    if (keys.front()) sums[*keys.front()].self.Add(amount);
    std::set<LineKey> counted;
    for (const std::optional<LineKey>& key : keys) {
      if (key && counted.insert(*key).second) sums[*key].inclusive.Add(amount);
    }
  }
  std::vector<LineAmounts> lines;
  for (auto& [key, line] : sums) {
    line.frame = key.frame;
    line.filename = profile.text(key.filename);
    line.number = key.number;
    lines.push_back(line);
  }
  std::ranges::sort(lines, [&](const LineAmounts& a, const LineAmounts& b) {
    return std::tuple(frames.NameOf(a.frame), a.frame, a.filename, a.number) <
           std::tuple(frames.NameOf(b.frame), b.frame, b.filename, b.number);
  });
  return lines;
}

}  // namespace perftape::summarize
