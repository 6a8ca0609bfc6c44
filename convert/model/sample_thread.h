// SPDX-License-Identifier: Apache-2.0
// The thread of a sample, from its Thread or from its labels. A pprof of another tool may contain
// it in labels that perftape would not write (a pid without a tid, or without a unit). These stay
// labels, so that they are written as they were read.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "convert/model/profile.h"

namespace perftape::convert {

// An unknown pid or tid of a Thread: -1, as in perf. For some threads, a folded file has only the
// comm.
inline constexpr std::uint32_t kUnknownId = 0xffff'ffff;

struct SampleThread {
  std::optional<std::uint32_t> pid = {}, tid = {};  // nothing if unknown
  std::string_view comm = {};  // valid as long as the profile; empty if unknown
};

SampleThread ThreadOf(const Profile& profile, const Sample& sample);

// Returns the thread that the sample woke, from its labels; without a pid.
SampleThread WokenThreadOf(const Profile& profile, const Sample& sample);

// Returns the first label with this key, or null.
const Label* FindLabel(const Profile& profile, LabelsId labels, std::string_view key);

// Returns how many threads ran when a sample was taken, from its label; at least 1, and 1 if it has
// none.
std::int64_t ParallelismOf(const Profile& profile, const Sample& sample);

// Returns whether samples have times: whether a set of labels has one.
bool HasTimes(const Profile& profile);

}  // namespace perftape::convert
