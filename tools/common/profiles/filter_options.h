// SPDX-License-Identifier: Apache-2.0
// The options of all tools that filter profiles, and what the filters removed.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "convert/filter/filter.h"
#include "convert/filter/name_patterns.h"
#include "convert/import/import_options.h"
#include "formats/base/result.h"
#include "tools/common/cli/options.h"
#include "tools/common/cli/values.h"
#include "tools/common/profiles/symbol_options.h"

namespace perftape::cli {

// The fields that the rows below set. The struct of a tool with these rows derives from it.
struct FilterPlan : SymbolPlan {
  convert::ImportOptions import;
  convert::FilterOptions filter;
  bool all_frames = false;  // also those that drop_frames of a pprof names
};

// These parse arguments. Each gets the option as the user typed it, and fails with
// kInvalidArgument.

// "2.5,10", "10%,90%", ",5": either end can be missing. The values are seconds since the first
// sample, times as perf script prints them, or percent of the time from the first sample to the
// last.
Result<convert::TimeRange> ParseTimeRange(std::string_view option, std::string_view text);

// "12,13": process or thread ids, or 0.
Result<std::vector<std::int64_t>> ParseIds(std::string_view option, std::string_view text);

Result<convert::NameRegex> ParseRegex(std::string_view option, std::string_view text);

// Returns the tag of the option that selects a filter.
constexpr int TagOf(convert::Filter filter) {
  return static_cast<int>(filter) + 1;
}

// Returns the name of the option of `command` that selects a filter: "--comm". The command must
// have the rows below.
std::string OptionOf(const Command& command, convert::Filter filter);

constexpr Option EventRow(std::string_view help) {
  return {.name = "event",
          .argument = "GLOB",
          .help = help,
          .tag = TagOf(convert::Filter::kEvent),
          .into = Store<&FilterPlan::filter, &convert::FilterOptions::events>};
}

inline constexpr Option kFilterRows[] = {
    {.name = "comm",
     .argument = "GLOB",
     .help = "keep only samples of threads with this name: 'nginx*,java'",
     .tag = TagOf(convert::Filter::kComm),
     .into = Store<&FilterPlan::filter, &convert::FilterOptions::comms>},
    {.name = "pid",
     .argument = "PID",
     .help = "keep only samples of these processes: 12,13",
     .tag = TagOf(convert::Filter::kPid),
     .into = StoreAs<&ParseIds, &FilterPlan::filter, &convert::FilterOptions::pids>},
    {.name = "tid",
     .argument = "TID",
     .help = "keep only samples of these threads",
     .tag = TagOf(convert::Filter::kTid),
     .into = StoreAs<&ParseIds, &FilterPlan::filter, &convert::FilterOptions::tids>},
    {.name = "cpu",
     .letter = 'C',
     .argument = "CPU",
     .help = "keep only samples of these CPUs: 0-3,8",
     .tag = TagOf(convert::Filter::kCpu),
     .into = StoreAs<&ParseCpuList, &FilterPlan::filter, &convert::FilterOptions::cpus>},
    {.name = "dso",
     .argument = "GLOB",
     .help = "keep only samples whose innermost frame is in these files: 'libc*'; a pattern with / "
             "is compared with the whole path",
     .tag = TagOf(convert::Filter::kDso),
     .into = Store<&FilterPlan::filter, &convert::FilterOptions::dsos>},
    {.name = "symbol",
     .argument = "GLOB",
     .help = "keep only samples whose innermost frame is in these functions",
     .tag = TagOf(convert::Filter::kSymbol),
     .into = Store<&FilterPlan::filter, &convert::FilterOptions::symbols>},
    {.name = "time",
     .argument = "FROM,TO",
     .help = "keep only samples from FROM to TO: times since the first sample (2.5,10 or "
             "500ms,2m), times that perf script prints, or percent of the recording (10%,20%)",
     .into = StoreAs<&ParseTimeRange, &FilterPlan::import, &convert::ImportOptions::time>},
    {.name = "focus",
     .argument = "REGEX",
     .help = "keep only samples with a frame whose function, source file or binary matches",
     .tag = TagOf(convert::Filter::kFocus),
     .into = StoreAs<&ParseRegex, &FilterPlan::filter, &convert::FilterOptions::focus>},
    {.name = "ignore",
     .argument = "REGEX",
     .help = "remove samples with a frame that matches, as for --focus",
     .tag = TagOf(convert::Filter::kIgnore),
     .into = StoreAs<&ParseRegex, &FilterPlan::filter, &convert::FilterOptions::ignore>},
    {.name = "no-kernel",
     .help = "remove the frames of the kernel",
     .conflicts = "no-user",
     .tag = TagOf(convert::Filter::kNoKernel),
     .into = Set<&FilterPlan::filter, &convert::FilterOptions::no_kernel>},
    {.name = "cgroup",
     .argument = "GLOB",
     .help = "keep only samples of these control groups",
     .tag = TagOf(convert::Filter::kCgroup),
     .is_rare = true,
     .into = Store<&FilterPlan::filter, &convert::FilterOptions::cgroups>},
    {.name = "no-user",
     .help = "remove the frames of programs",
     .tag = TagOf(convert::Filter::kNoUser),
     .is_rare = true,
     .into = Set<&FilterPlan::filter, &convert::FilterOptions::no_user>},
    {.name = "all-frames",
     .help = "show also the frames that a pprof asks to leave out (drop_frames)",
     .is_rare = true,
     .into = Set<&FilterPlan::all_frames>},
    {.name = "max-depth",
     .argument = "N",
     .help = "keep the N outermost frames; the last one gets the samples of the frames that it "
             "called",
     .is_rare = true,
     .into = StoreAs<&ParseNumberIn<std::uint32_t, 1, UINT32_MAX>, &FilterPlan::filter,
                     &convert::FilterOptions::max_depth>},
    {.name = "min-percent",
     .argument = "PERCENT",
     .help = "remove frames with less than PERCENT of the total, including what they call; their "
             "callers get their samples",
     .tag = TagOf(convert::Filter::kMinPercent),
     .is_rare = true,
     .into = StoreAs<&ParsePercent, &FilterPlan::filter, &convert::FilterOptions::min_percent>},
};

// Returns "99 samples", or the sum of plain values.
std::string AmountText(const convert::EventTotals& event);

// Returns the names of the events of a profile.
std::set<std::string> EventNames(const convert::Profile& profile);

// Returns why --event leaves nothing: no event has the name, or no sample of those that have it was
// read. `sampled` are the names of the events whose samples were read, `recorded` (in any order)
// those of all events that the inputs describe.
std::string NoEventLine(const convert::Globs& wanted, const std::set<std::string>& sampled,
                        const std::vector<std::string>& recorded);

// Returns "cycles: kept 40 of 100 samples; 60 dropped by --comm" for each event. Events whose
// samples were all kept have no line. `command` has the options of the filters.
std::vector<std::string> FilterLines(const Command& command, const convert::FilterReport& report);

}  // namespace perftape::cli
