// SPDX-License-Identifier: Apache-2.0
// The options of the tools that show a recording over time: its wall clock, its critical path, and
// the latency of its functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "convert/combine.h"
#include "convert/filter/name_patterns.h"
#include "convert/model/profile.h"
#include "convert/timeline/cpu_waits.h"
#include "convert/timeline/critical_path.h"
#include "convert/timeline/parallelism.h"
#include "convert/timeline/timeline.h"
#include "convert/timeline/windows.h"
#include "formats/base/result.h"
#include "tools/common/cli/console.h"
#include "tools/common/cli/options.h"
#include "tools/common/profiles/filter_options.h"

namespace perftape::cli {

enum class TimeView : std::uint8_t {
  kNone,
  kWall,
  kPath,
  kLatency,
  kParallelism,  // samples with their parallelism, some of them left out
};

// The windows of a critical path, if they were found before the recording was read (FindWindows).
struct FoundWindows {
  timeline::WindowLengths lengths;                      // of all windows
  std::vector<timeline::ThreadWindow> chosen, against;  // the longest first
};

struct TimeViewOptions {
  TimeView view = TimeView::kNone;
  bool idle_threads = false;
  timeline::EventPairs events = {};  // empty names: the lives of the selected threads
  timeline::WindowChoice windows = {};
  std::optional<timeline::Percentiles> against = {};  // the windows to compare with
  std::optional<FoundWindows> found = {};
  std::vector<timeline::ThreadNumbers> parallelism = {};  // empty: any
  // Of --wall and --path: samples get the labels of the times at which they ended, for a page that
  // shows them over time.
  bool at_times = false;
};

// The fields that the rows below set. The struct of a tool with these rows derives from it.
struct TimeViewPlan : FilterPlan {
  TimeViewOptions time_view;
};

// The range of --against without an argument.
inline constexpr timeline::Percentiles kTypicalWindows = {.from = 40, .to = 60};

// Parses "p95..".
Result<timeline::Percentiles> ParseWindows(std::string_view option, std::string_view text);
// The same; an empty text is "p40..p60".
Result<timeline::Percentiles> ParseAgainst(std::string_view option, std::string_view text);

// Parses "1,4-": the numbers 1, 4 and above.
Result<std::vector<timeline::ThreadNumbers>> ParseThreadNumbers(std::string_view option,
                                                                std::string_view text);

inline constexpr Option kTimeViewRows[] = {
    {.name = "wall",
     .help = "show the whole time of each thread, also off the CPU: running, runnable, disk, lock, "
             "sleep, and below each its stacks (perftape-record --why)",
     .conflicts = "path latency diff event cpu",
     .into = SetTo<TimeView::kWall, &TimeViewPlan::time_view, &TimeViewOptions::view>},
    {.name = "path",
     .help = "show the critical path: why the selected threads took their time, through the "
             "threads that they waited for (perftape-record --why)",
     .conflicts = "wall latency diff event cpu",
     .into = SetTo<TimeView::kPath, &TimeViewPlan::time_view, &TimeViewOptions::view>},
    {.name = "latency",
     .help = "show the time that passed, divided among the threads of the process that ran "
             "(perftape-record --why, perf record --latency)",
     .conflicts = "wall path diff event",
     .into = SetTo<TimeView::kLatency, &TimeViewPlan::time_view, &TimeViewOptions::view>},
    {.name = "parallelism",
     .argument = "LIST",
     .help = "keep only samples at which so many threads of the process ran: 1 (the serial "
             "phases), 2-4, 8-",
     .conflicts = "wall path diff event",
     .into = StoreAs<&ParseThreadNumbers, &TimeViewPlan::time_view, &TimeViewOptions::parallelism>},
    {.name = "from-event",
     .argument = "GLOB",
     .help = "with --path, look at the windows that begin with this event, in the thread of the "
             "next --to-event",
     .into =
         Store<&TimeViewPlan::time_view, &TimeViewOptions::events, &timeline::EventPairs::from>},
    {.name = "to-event",
     .argument = "GLOB",
     .help = "end windows with this event",
     .into = Store<&TimeViewPlan::time_view, &TimeViewOptions::events, &timeline::EventPairs::to>},
    {.name = "pair-by",
     .argument = "FIELD",
     .help = "pair the two events by equal values of this field, instead of by thread",
     .is_rare = true,
     .into = Store<&TimeViewPlan::time_view, &TimeViewOptions::events, &timeline::EventPairs::key>},
    {.name = "slowest",
     .argument = "N",
     .help = "with --path, look at the N longest windows only",
     .into = StoreAs<&ParseNumberIn<std::size_t, 1, UINT32_MAX>, &TimeViewPlan::time_view,
                     &TimeViewOptions::windows, &timeline::WindowChoice::slowest>},
    {.name = "windows",
     .argument = "RANGE",
     .help = "with --path, look at the windows in this range of percentiles of their lengths: "
             "p95.., ..p50 or p40..p60",
     .is_rare = true,
     .into = StoreAs<&ParseWindows, &TimeViewPlan::time_view, &TimeViewOptions::windows,
                     &timeline::WindowChoice::percentiles>},
    {.name = "against",
     .argument = "RANGE",
     .help = "with --path, compare an average window of --slowest or --windows with one of this "
             "range (default p40..p60): what do slow ones have that others do not",
     .argument_is_optional = true,
     .is_rare = true,
     .into = StoreAs<&ParseAgainst, &TimeViewPlan::time_view, &TimeViewOptions::against>},
    {.name = "idle",
     .help = "with --wall, also show threads that waited all the time in one place",
     .is_rare = true,
     .into = Set<&TimeViewPlan::time_view, &TimeViewOptions::idle_threads>},
};

// Checks the options, and asks the reader for what they need. Fails with kInvalidArgument.
Status FinishTimeViewOptions(std::size_t inputs, TimeViewPlan& plan);

// Returns the threads that the filters choose.
timeline::ThreadChoice ChoiceOf(const TimeViewPlan& plan);

// The path of some windows.
struct WalkedWindows {
  std::size_t count = 0;
  std::int64_t window_ns = 0, explained_ns = 0;
  std::vector<timeline::PathBranch> branches;
  std::vector<timeline::PathPart> parts;
  timeline::CpuUse cpu_use;  // while the path waited for a CPU
  std::vector<timeline::Hop> hops;
};

// A path, and what a report says of it.
struct PathFacts {
  timeline::WindowLengths lengths;  // of all windows
  WalkedWindows chosen;
  std::optional<WalkedWindows> against = {};  // of --against
  convert::Profile recorded;                  // what the ids above are of
};

struct TimeViewResult {
  convert::Profile profile = {};
  std::vector<timeline::ThreadWindow> windows = {};  // of `profile`, with --path
  // Of the windows of --against. Then the values of both profiles are of a window on average.
  std::optional<convert::Profile> against = {};
  std::optional<PathFacts> path = {};
  std::vector<std::string> notes = {};     // for the user
  std::vector<std::string> warnings = {};  // what the recording lacks
};

// Makes the view of a recording. Fails as LivesOf and WindowsBetween do, and with kInvalidArgument
// if the recording has no times or no waits.
Result<TimeViewResult> MakeTimeView(const TimeViewPlan& plan, const convert::Profile& profile,
                                    const std::vector<convert::InputReport>& inputs);

// The key of the fact that has NotRecordedText.
inline constexpr std::string_view kCpuWaitsFact = "waits for a CPU";

// Returns "1.20 s of it: programs that were not recorded (perftape-record -a shows them)",
// of the waits for a CPU; empty if no such program is known to have run.
std::string NotRecordedText(const timeline::CpuUse& use);

// Prints the notes and warnings.
void PrintTimeView(const TimeViewResult& result, Console& console);

}  // namespace perftape::cli
