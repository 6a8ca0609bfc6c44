// SPDX-License-Identifier: Apache-2.0
// Filters that select parts of a profile, in the same way for all formats. A property that a
// profile does not have, such as the comm of a folded line, never matches.
//
// Samples are dropped first by thread, event and labels, then by their frames. Then frames are cut
// off. A sample that loses all of its frames is dropped, too.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "convert/filter/name_patterns.h"
#include "convert/model/profile.h"

namespace perftape::convert {

// In the order in which they are applied. The first filter that drops a sample is reported.
enum class Filter : std::uint8_t {
  kEvent,
  kComm,
  kPid,
  kTid,
  kCpu,
  kCgroup,
  kDso,
  kSymbol,
  kFocus,
  kIgnore,
  kNoKernel,
  kNoUser,
  kMinPercent,
};
inline constexpr std::size_t kFilters = static_cast<std::size_t>(Filter::kMinPercent) + 1;

struct FilterOptions {
  // An empty filter keeps everything.
  Globs events = {}, comms = {}, cgroups = {};
  std::set<std::int64_t> pids = {}, tids = {},
                         cpus = {};  // cpus, cgroups: from the labels "cpu" and "cgroup"
  // Match the innermost frame, as perf report does: its file (by the whole path if the pattern has
  // a '/'), its function (including inlined ones).
  Globs dsos = {}, symbols = {};
  // Match any frame, as pprof does: the name of its function, source file or mapped file.
  std::optional<NameRegex> focus = {}, ignore = {};
  bool no_kernel = false, no_user = false;      // leave out kernel or user frames
  std::optional<std::uint32_t> max_depth = {};  // keep this many frames, from the root
  // Frames with a smaller share of their event's total, including their callees, are cut off. Their
  // samples are then the caller's. 0 to 100.
  double min_percent = 0;

  bool changes_anything() const;
  // Returns whether it changes stacks, and does not only drop samples.
  bool cuts_frames() const { return no_kernel || no_user || max_depth || min_percent > 0; }
  // Returns whether the filter needs names of functions.
  bool needs_names() const { return !symbols.empty() || focus || ignore; }
  // Return whether it needs a label that importers add only on request.
  bool needs_cpu() const { return !cpus.empty(); }
  bool needs_cgroup() const { return !cgroups.empty(); }
};

struct Total {
  std::int64_t samples = 0;  // 0 for plain values
  std::int64_t period = 0;   // or the plain value
  void Add(const Sample& sample);
};

struct EventTotals {
  std::string name;
  std::string unit;
  EventValues values = {};
  std::uint8_t decimals = 0;
  Total read = {}, kept = {};
  std::array<Total, kFilters> dropped = {};  // by Filter
};

struct FilterReport {
  std::vector<EventTotals> events;  // the events of the profile
};

// Decides for each sample whether a filter keeps it.
class FilterJudge {
 public:
  // `profile` and `options` must outlive this object.
  FilterJudge(const Profile& profile, const FilterOptions& options);
  ~FilterJudge();

  // Returns the filter that drops the sample, or nothing. Filters that only cut frames drop no
  // sample here.
  std::optional<Filter> Of(const Sample& sample) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

// Returns the report of a profile without a filter: everything is kept.
FilterReport TotalsOf(const Profile& profile);

// Returns the filtered profile. It has all events that the filter keeps, even without samples. The
// report counts all samples of `profile`.
Profile ApplyFilter(const Profile& profile, const FilterOptions& options, FilterReport& report);

}  // namespace perftape::convert
