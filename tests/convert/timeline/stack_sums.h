// SPDX-License-Identifier: Apache-2.0
// The values of a profile as folded stacks.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "convert/model/label_keys.h"
#include "convert/model/profile.h"
#include "convert/model/sample_thread.h"

namespace perftape::timeline {

// Returns "comm;main;work", outermost first.
inline std::string StackOf(const convert::Profile& profile, const convert::Sample& sample) {
  std::string text;
  for (convert::StackId at = sample.stack; at != convert::StackId{}; at = profile[at].caller) {
    for (const convert::Line& line : profile[profile[at].leaf].lines) {
      text = ";" + std::string(profile.text(profile[line.function].name)) + text;
    }
  }
  return std::string(profile.text(profile[sample.thread].comm)) + text;
}

// Returns the sum of each stack.
inline std::map<std::string, std::int64_t> SumsOf(const convert::Profile& profile) {
  std::map<std::string, std::int64_t> sums;
  for (const convert::Sample& sample : profile.samples()) {
    sums[StackOf(profile, sample)] += sample.period;
  }
  return sums;
}

// Returns the sum of each cgroup; of samples without one, that of "".
inline std::map<std::string, std::int64_t> CgroupSumsOf(const convert::Profile& profile) {
  std::map<std::string, std::int64_t> sums;
  for (const convert::Sample& sample : profile.samples()) {
    const convert::Label* const label = FindLabel(profile, sample.labels, convert::kCgroupLabel);
    sums[label == nullptr ? "" : std::string(profile.text(label->text))] += sample.period;
  }
  return sums;
}

// Returns "start-end comm;main;work" of each sample with the time at which it ended.
inline std::set<std::string> TimesOf(const convert::Profile& profile) {
  std::set<std::string> texts;
  for (const convert::Sample& sample : profile.samples()) {
    const convert::Label* const end = FindLabel(profile, sample.labels, convert::kTimestampLabel);
    if (end == nullptr) continue;
    texts.insert(std::to_string(end->number - sample.period) + "-" + std::to_string(end->number) +
                 " " + StackOf(profile, sample));
  }
  return texts;
}

inline std::int64_t TotalOf(const convert::Profile& profile) {
  std::int64_t total = 0;
  for (const convert::Sample& sample : profile.samples()) total += sample.period;
  return total;
}

}  // namespace perftape::timeline
