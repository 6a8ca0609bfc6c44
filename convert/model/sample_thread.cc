// SPDX-License-Identifier: Apache-2.0
#include "convert/model/sample_thread.h"

#include <algorithm>

#include "convert/model/label_keys.h"

namespace perftape::convert {
namespace {

std::optional<std::uint32_t> Known(std::uint32_t id) {
  return id == kUnknownId ? std::nullopt : std::optional(id);
}

}  // namespace

SampleThread ThreadOf(const Profile& profile, const Sample& sample) {
  if (sample.thread != ThreadId{}) {
    const Thread& thread = profile[sample.thread];
    return {.pid = Known(thread.pid), .tid = Known(thread.tid), .comm = profile.text(thread.comm)};
  }
  SampleThread found;
  if (const Label* pid = FindLabel(profile, sample.labels, kPidLabel)) {
    found.pid = static_cast<std::uint32_t>(pid->number);
  }
  if (const Label* tid = FindLabel(profile, sample.labels, kTidLabel)) {
    found.tid = static_cast<std::uint32_t>(tid->number);
  }
  if (const Label* comm = FindLabel(profile, sample.labels, kCommLabel)) {
    found.comm = profile.text(comm->text);
  }
  return found;
}

SampleThread WokenThreadOf(const Profile& profile, const Sample& sample) {
  SampleThread woken;
  if (const Label* tid = FindLabel(profile, sample.labels, kWokenTidLabel)) {
    woken.tid = static_cast<std::uint32_t>(tid->number);
  }
  if (const Label* comm = FindLabel(profile, sample.labels, kWokenLabel)) {
    woken.comm = profile.text(comm->text);
  }
  return woken;
}

const Label* FindLabel(const Profile& profile, LabelsId labels, std::string_view key) {
  for (const Label& label : profile[labels]) {
    if (profile.text(label.key) == key) return &label;
  }
  return nullptr;
}

std::int64_t ParallelismOf(const Profile& profile, const Sample& sample) {
  const Label* const label = FindLabel(profile, sample.labels, kParallelismLabel);
  return label == nullptr ? 1 : std::max<std::int64_t>(label->number, 1);
}

bool HasTimes(const Profile& profile) {
  for (std::uint32_t i = 1; i < profile.labels().size(); ++i) {
    if (FindLabel(profile, LabelsId{i}, kTimestampLabel) != nullptr) return true;
  }
  return false;
}

}  // namespace perftape::convert
