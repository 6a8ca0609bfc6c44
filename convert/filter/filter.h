// SPDX-License-Identifier: Apache-2.0
// Which parts of a profile to keep. All formats are filtered alike. A property that a profile does
// not have, such as the comm of a folded line, never matches.
//
// Samples are dropped first by thread, event and labels, then by their frames. Last, frames are cut
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

#include "convert/filter/glob.h"
#include "convert/filter/name_regex.h"
#include "convert/model/profile.h"

namespace perftape::convert {

// In the order of their use. The first filter that drops a sample is the one reported.
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
                         cpus = {};  // cpus, cgroups: of the labels "cpu" and "cgroup"
  // Of the innermost frame, as perf report has them: the file that it is in (by its whole path
  // where the pattern has a '/'), the function (also inlined there).
  Globs dsos = {}, symbols = {};
  // Of any frame, as pprof has them: in the name of a function, of its source or of the mapped
  // file.
  std::optional<NameRegex> focus = {}, ignore = {};
  bool no_kernel = false, no_user = false;      // frames of that kind are left out
  std::optional<std::uint32_t> max_depth = {};  // only so many frames, from the root
  // Frames that hold less of their event's total, with all that they call, are cut off: what they
  // hold is their caller's then. 0 to 100.
  double min_percent = 0;

  bool changes_anything() const;
  // Whether it changes stacks, not only which samples there are.
  bool cuts_frames() const { return no_kernel || no_user || max_depth || min_percent > 0; }
  // Whether names of functions are asked for.
  bool needs_names() const { return !symbols.empty() || focus || ignore; }
  // Whether it is asked for what importers tell only when asked to.
  bool needs_cpu() const { return !cpus.empty(); }
  bool needs_cgroup() const { return !cgroups.empty(); }
};

struct Total {
  std::int64_t samples = 0;  // 0 of plain values
  std::int64_t period = 0;   // the plain value, of such
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
  std::vector<EventTotals> events;  // those of the profile
};

// Decides for one sample after the other whether a filter keeps it.
class FilterJudge {
 public:
  // Both must outlive this.
  FilterJudge(const Profile& profile, const FilterOptions& options);
  ~FilterJudge();

  // The filter that drops the sample, if any. Filters that only cut frames drop none.
  std::optional<Filter> Of(const Sample& sample) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

// The report of a profile without a filter: everything is kept.
FilterReport TotalsOf(const Profile& profile);

// Returns the profile that is left. It has all events that the filter keeps, even without samples.
// The report counts all samples of `profile`.
Profile ApplyFilter(const Profile& profile, const FilterOptions& options, FilterReport& report);

}  // namespace perftape::convert
