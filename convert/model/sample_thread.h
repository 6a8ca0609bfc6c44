// SPDX-License-Identifier: Apache-2.0
// Whose a sample is: as its thread says, or as its labels do. A pprof of other tools may say it in
// labels that ours would not (a pid without a tid, or without a unit); these stay labels, so that
// they are written as they came.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "convert/model/profile.h"

namespace perftape::convert {

// The pid or tid of a Thread where it is not known: -1, as perf has it. A folded file tells of some
// threads no more than their comm.
inline constexpr std::uint32_t kUnknownId = 0xffff'ffff;

struct SampleThread {
  std::optional<std::uint32_t> pid = {}, tid = {};  // nothing where unknown
  std::string_view comm = {};  // lives as long as the profile; empty where unknown
};

SampleThread ThreadOf(const Profile& profile, const Sample& sample);

// The first label of that key; null where there is none.
const Label* FindLabel(const Profile& profile, LabelsId labels, std::string_view key);

}  // namespace perftape::convert
