// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/breakdowns.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"
#include "formats/otlp/conventions.h"

namespace perftape::summarize {
namespace {

using convert::Line;
using convert::Location;
using convert::Profile;
using convert::Sample;
using convert::StackId;

constexpr double kSmallestShown = 0.005;  // percent: smaller shares are rounded to 0.00

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

std::string TextOf(const Profile& profile, const convert::Label& label) {
  if (label.text != convert::StringId{}) return std::string(profile.text(label.text));
  std::string text = std::to_string(label.number);
  const std::string_view unit = profile.text(label.unit);
  // The unit of "cpu" repeats the key.
  if (!unit.empty() && label.unit != label.key) text.append(" ").append(unit);
  return text;
}

std::string LabelOf(const Profile& profile, const Sample& sample, std::string_view key) {
  const convert::Label* label = convert::FindLabel(profile, sample.labels, key);
  return label == nullptr ? "" : TextOf(profile, *label);
}

std::string IdText(std::optional<std::uint32_t> id) {
  return id && *id != convert::kUnknownId ? std::to_string(*id) : "";
}

std::string DsoOf(const Profile& profile, const Sample& sample) {
  if (sample.stack == convert::StackId{}) return "";
  const convert::Location& leaf = profile[profile[sample.stack].leaf];
  return std::string(profile.text(profile[leaf.mapping].filename));
}

std::string PodOf(const Profile& profile, const Sample& sample) {
  const std::string pod = LabelOf(profile, sample, convert::kPodLabel);
  if (pod.empty()) return LabelOf(profile, sample, convert::kContainerLabel);
  return LabelOf(profile, sample, convert::kPodNamespaceLabel) + "/" + pod;
}

// `label_key` is that of kLabel.
std::string ValueOf(const Profile& profile, const Sample& sample, Property property,
                    std::string_view label_key) {
  switch (property) {
    case Property::kComm:
      return std::string(convert::ThreadOf(profile, sample).comm);
    case Property::kPid:
      return IdText(convert::ThreadOf(profile, sample).pid);
    case Property::kTid:
      return IdText(convert::ThreadOf(profile, sample).tid);
    case Property::kDso:
      return DsoOf(profile, sample);
    case Property::kCgroup:
      return LabelOf(profile, sample, convert::kCgroupLabel);
    case Property::kPod:
      return PodOf(profile, sample);
    case Property::kService:
      return LabelOf(profile, sample, otlp::kServiceName);
    case Property::kUnit:
      return LabelOf(profile, sample, convert::kUnitLabel);
    case Property::kCpu:
      return LabelOf(profile, sample, convert::kCpuLabel);
    case Property::kLabel:
      return LabelOf(profile, sample, label_key);
  }
  return "";
}

}  // namespace

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
  // Among the functions that a report shows with 0.00 %, the totals say more.
  const auto shown_self = [&](const FunctionAmounts& function) {
    const bool is_zero = std::abs(PercentOf(function.self, amounts.whole())) < kSmallestShown;
    return is_zero ? 0 : SizeOf(function.self);
  };
  std::ranges::sort(all, [&](const FunctionAmounts& a, const FunctionAmounts& b) {
    return std::tuple(shown_self(b), SizeOf(b.inclusive), SizeOf(b.self), frames.NameOf(a.frame),
                      a.frame) < std::tuple(shown_self(a), SizeOf(a.inclusive), SizeOf(a.self),
                                            frames.NameOf(b.frame), b.frame);
  });
  return all;
}

void SortByInclusive(std::vector<FunctionAmounts>& functions) {
  std::ranges::stable_sort(functions, std::greater(), [](const FunctionAmounts& function) {
    return SizeOf(function.inclusive);
  });
}

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

std::string LabelKeyOf(const Profile& profile, const GroupBy& by) {
  const std::string of_field = convert::FieldLabelKey(by.label);
  for (const std::string& key : {of_field, by.label}) {
    for (const std::span<const convert::Label> set : profile.labels()) {
      if (std::ranges::any_of(
              set, [&](const convert::Label& label) { return profile.text(label.key) == key; })) {
        return key;
      }
    }
  }
  return {};
}

std::vector<GroupAmount> SumGroups(const Profile& profile, const StackAmounts& amounts,
                                   const GroupBy& by) {
  const std::string label_key = by.property == Property::kLabel ? LabelKeyOf(profile, by) : "";
  std::map<std::string, Amount> sums;
  for (const Sample& sample : profile.samples()) {
    if (sample.event == amounts.event()) {
      sums[ValueOf(profile, sample, by.property, label_key)].Add(amounts.Of(sample));
    }
  }
  std::vector<GroupAmount> groups;
  for (auto& [name, amount] : sums) groups.push_back({.name = name, .amount = amount});
  std::ranges::sort(groups, [](const GroupAmount& a, const GroupAmount& b) {
    return std::tuple(SizeOf(b.amount), std::string_view(a.name)) <
           std::tuple(SizeOf(a.amount), std::string_view(b.name));
  });
  return groups;
}

}  // namespace perftape::summarize
