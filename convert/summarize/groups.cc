// SPDX-License-Identifier: Apache-2.0
#include "convert/summarize/groups.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "convert/model/label_keys.h"
#include "convert/model/sample_thread.h"

namespace perftape::summarize {
namespace {

using convert::Profile;
using convert::Sample;

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
    case Property::kCpu:
      return LabelOf(profile, sample, convert::kCpuLabel);
    case Property::kLabel:
      return LabelOf(profile, sample, label_key);
  }
  return "";
}

}  // namespace

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
    return std::tie(b.amount.weight, a.name) < std::tie(a.amount.weight, b.name);
  });
  return groups;
}

}  // namespace perftape::summarize
