// SPDX-License-Identifier: Apache-2.0
// Which samples `perf report` counts: its options --comms, --dsos, --symbols, --pid, --tid, --cpu
// and --time. Unlike filters of profiles, names are compared as a whole.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "convert/histogram/hit.h"
#include "formats/base/result.h"

namespace perftape::histogram {

// Times of the recording's clock in nanoseconds; both ends are inclusive.
struct TimeSlice {
  std::uint64_t first = 0, last = UINT64_MAX;
};

// Parses perf's --time: "START,STOP" in seconds, where one may be missing; "10%-20%"; "10%/2", the
// second tenth; several of the latter two, separated by commas. `recording` has the times of the
// first and last samples. Fails with kInvalidArgument for other texts.
Result<std::vector<TimeSlice>> ParseTimes(std::string_view text, const TimeSlice& recording);

struct HitFilter {
  // An empty set keeps everything.
  std::set<std::string, std::less<>> comms = {}, dsos = {}, symbols = {};
  std::set<std::int64_t> pids = {}, tids = {}, cpus = {};
  std::vector<TimeSlice> times = {};
  std::string symbol_part = {};  // of --symbol-filter: in the name
  bool hides_unresolved = false;

  // Whether perf drops the sample before it is counted at all: by time, CPU, or name.
  bool Drops(const Hit& hit) const;
  // Whether perf counts the sample only for the total of --percentage absolute.
  bool Hides(const Hit& hit, const NameTable& names) const;
};

}  // namespace perftape::histogram
