// SPDX-License-Identifier: Apache-2.0
#include "tools/common/profiles/time_view_options.h"

#include <fmt/core.h>

#include <charconv>
#include <utility>

#include "convert/model/hybrid_events.h"
#include "convert/model/label_keys.h"
#include "convert/model/profile_builder.h"
#include "convert/model/profile_facts.h"
#include "convert/timeline/pauses.h"
#include "convert/timeline/switches.h"
#include "convert/timeline/wall_clock.h"
#include "formats/base/counted.h"
#include "formats/base/duration.h"
#include "formats/base/text.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/values.h"

namespace perftape::cli {
namespace {

using timeline::Timeline;
using timeline::Window;

// Returns "1.20 s" or "35.1 ms".
std::string TimeText(std::int64_t ns) {
  const auto time = static_cast<double>(ns);
  return ns >= kNsPerSecond ? fmt::format("{:.2f} s", time / kNsPerSecond)
                            : fmt::format("{:.1f} ms", time / 1'000'000);
}

std::unexpected<Error> Usage(std::string message) {
  return Fail(ErrorCode::kInvalidArgument, std::move(message));
}

// What was not recorded, and so is missing in a view.
std::vector<std::string> MissingIn(const timeline::Recorded& recorded, TimeView view) {
  std::vector<std::string> missing;
  if (!recorded.on_cpu) missing.emplace_back("what ran: -e cpu-clock");
  if (!recorded.runnable) missing.emplace_back("waits for a CPU: -e offcpu");
  if (view == TimeView::kPath && !recorded.wakeups) missing.emplace_back("who woke whom: --wakers");
  return missing;
}

// Sets `walked` to the path of windows, and returns its profile.
convert::Profile WalkWindows(const Timeline& timeline, std::vector<Window> windows,
                             timeline::PathValues values, WalkedWindows& walked) {
  const timeline::CriticalPath path = WalkPath(timeline, std::move(windows));
  timeline::PathProfile made = timeline::ToProfile(timeline, path, values);
  walked = {.count = path.windows.size(),
            .window_ns = path.window_ns(),
            .explained_ns = path.explained_ns(),
            .branches = std::move(made.branches),
            .parts = std::move(made.parts),
            .cpu_use = UseOfCpus(timeline, CpuWaitsOf(path)),
            .hops = HopsOf(timeline, path)};
  return std::move(made.profile);
}

std::vector<Window> WindowsOf(const Timeline& timeline,
                              const std::vector<timeline::ThreadWindow>& found) {
  std::vector<Window> windows;
  for (const timeline::ThreadWindow& window : found) {
    const std::uint32_t thread = timeline.Find(window.pid, window.tid);
    if (thread != timeline::kNone) windows.push_back({.thread = thread, .time = window.time});
  }
  return windows;
}

// The windows that are looked at.
struct PathWindows {
  timeline::WindowLengths lengths;  // of all
  std::vector<Window> chosen, against;
};

Result<PathWindows> FindPathWindows(const TimeViewPlan& plan, const Timeline& timeline) {
  const TimeViewOptions& options = plan.time_view;
  if (options.found) {
    return PathWindows{.lengths = options.found->lengths,
                       .chosen = WindowsOf(timeline, options.found->chosen),
                       .against = WindowsOf(timeline, options.found->against)};
  }
  std::vector<Window> windows;
  if (options.events.from.empty()) {
    TRY_ASSIGN(windows, LivesOf(timeline, ChoiceOf(plan)));
  } else {
    TRY_ASSIGN(windows, WindowsBetween(timeline, options.events, ChoiceOf(plan)));
  }
  PathWindows made;
  made.lengths = timeline::LengthsOf(windows);
  if (options.against) made.against = Choose(windows, {.percentiles = options.against});
  made.chosen = Choose(std::move(windows), options.windows);
  return made;
}

Result<TimeViewResult> MakePath(const TimeViewPlan& plan, const Timeline& timeline) {
  TRY_ASSIGN(PathWindows windows, FindPathWindows(plan, timeline));
  const bool compares = plan.time_view.against.has_value();
  const auto values = compares                  ? timeline::PathValues::kAverageWindow
                      : plan.time_view.at_times ? timeline::PathValues::kAtTimes
                                                : timeline::PathValues::kAllWindows;
  TimeViewResult result;
  result.windows = WithIds(timeline, windows.chosen);
  PathFacts& facts = result.path.emplace();
  facts.lengths = windows.lengths;
  facts.recorded = timeline.profile();
  if (compares) {
    result.against =
        WalkWindows(timeline, std::move(windows.against), values, facts.against.emplace());
  }
  result.profile = WalkWindows(timeline, std::move(windows.chosen), values, facts.chosen);
  return result;
}

// Returns the profile with one more comment.
convert::Profile WithFact(const convert::Profile& profile, std::string_view key,
                          std::string_view value) {
  convert::Metadata metadata = profile.metadata();
  metadata.comments.push_back(fmt::format("{}{}{}", key, convert::kCommentSeparator, value));
  convert::ProfileBuilder builder(profile);
  builder.SetMetadata(std::move(metadata));
  return std::move(builder).Finish();
}

TimeViewResult MakeWall(const TimeViewPlan& plan, const Timeline& timeline) {
  timeline::WallClock wall = MakeWallClock(
      timeline,
      {.with_idle_threads = plan.time_view.idle_threads, .with_times = plan.time_view.at_times});
  TimeViewResult result = {.profile = std::move(wall.profile)};
  const std::string others = NotRecordedText(UseOfCpus(timeline, CpuWaitsOf(timeline)));
  if (!others.empty()) result.profile = WithFact(result.profile, kCpuWaitsFact, others);
  if (wall.idle_threads != 0) {
    result.notes.push_back(fmt::format(
        "wall clock: left out {} that waited in one place all the time: use --idle to show them",
        Counted(wall.idle_threads, "thread")));
  }
  return result;
}

// Context switches say more than waits: perf records all, and those of all threads.
Result<TimeViewResult> MakeParallelism(const TimeViewPlan& plan, const Timeline& timeline,
                                       const convert::ImportReport& read) {
  if (!timeline.on_cpu_event()) {
    return Usage("the recording has no samples of a clock of the CPU: record with -e cpu-clock");
  }
  const auto running = read.switches.empty() ? timeline::RunningThreads::From(timeline)
                                             : timeline::RunningThreads::From(
                                                   timeline, read.switches, read.task_events);
  return TimeViewResult{.profile = LabelParallelism(timeline, running, plan.time_view.parallelism)};
}

bool NeedsParallelism(TimeView view) {
  return view == TimeView::kLatency || view == TimeView::kParallelism;
}

Result<TimeViewResult> Make(const TimeViewPlan& plan, const Timeline& timeline,
                            const std::vector<convert::InputReport>& inputs) {
  if (plan.time_view.view == TimeView::kPath) return MakePath(plan, timeline);
  if (plan.time_view.view == TimeView::kWall) return MakeWall(plan, timeline);
  return MakeParallelism(plan, timeline,
                         inputs.empty() ? convert::ImportReport() : inputs.front().read);
}

std::string NoWaitsLine(TimeView view) {
  const std::string line =
      "the recording has no waits with times: record with 'perftape-record --why', or with "
      "-e cpu-clock -e offcpu --wakers";
  return line + (NeedsParallelism(view) ? "; or with 'perf record --latency'"
                                        : "; or with 'perf record --switch-events'");
}

// Parses the number at the start of `text`, and removes it there.
std::optional<std::int64_t> ParseThreads(std::string_view& text) {
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 1) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(rest - text.data()));
  return number;
}

// Parses "1", "2-4" or "8-".
std::optional<timeline::ThreadNumbers> ParseRange(std::string_view text) {
  const auto first = ParseThreads(text);
  if (!first) return std::nullopt;
  if (text.empty()) return timeline::ThreadNumbers{.first = *first, .last = *first};
  if (text == "-") return timeline::ThreadNumbers{.first = *first};
  if (!text.starts_with('-')) return std::nullopt;
  text.remove_prefix(1);
  const auto last = ParseThreads(text);
  if (!last || !text.empty() || *last < *first) return std::nullopt;
  return timeline::ThreadNumbers{.first = *first, .last = *last};
}

}  // namespace

std::string NotRecordedText(const timeline::CpuUse& use) {
  if (use.not_recorded_ns == 0) return {};
  return fmt::format("{} of it: programs that were not recorded (perftape-record -a records them)",
                     TimeText(use.not_recorded_ns));
}

Result<std::vector<timeline::ThreadNumbers>> ParseThreadNumbers(std::string_view option,
                                                                std::string_view text) {
  std::vector<timeline::ThreadNumbers> numbers;
  for (const std::string_view word : SplitAtCommas(text)) {
    const auto range = ParseRange(word);
    if (!range) {
      return Usage(fmt::format("{}: '{}' is not a number of threads: use 1, 2-4 or 8-", option,
                               EscapeForTerminal(word)));
    }
    numbers.push_back(*range);
  }
  return numbers;
}

Result<timeline::Percentiles> ParseWindows(std::string_view option, std::string_view text) {
  Result<timeline::Percentiles> range = timeline::ParsePercentiles(text);
  if (!range) return Usage(fmt::format("{}: {}", option, range.error().message));
  return range;
}

Result<timeline::Percentiles> ParseAgainst(std::string_view option, std::string_view text) {
  if (text.empty()) return kTypicalWindows;
  return ParseWindows(option, text);
}

Status FinishTimeViewOptions(std::size_t inputs, TimeViewPlan& plan) {
  const TimeViewOptions& options = plan.time_view;
  const bool has_windows = !options.events.from.empty() || !options.events.to.empty() ||
                           !options.events.key.empty() || options.windows.slowest ||
                           options.windows.percentiles || options.against;
  if (options.view != TimeView::kPath && has_windows) {
    return Usage(
        "--from-event, --to-event, --pair-by, --slowest, --windows and --against need --path");
  }
  if (options.against && !options.windows.slowest && !options.windows.percentiles) {
    return Usage("--against needs --slowest or --windows");
  }
  if (options.view != TimeView::kWall && options.idle_threads) return Usage("--idle needs --wall");
  if (options.events.from.empty() != options.events.to.empty()) {
    return Usage("--from-event and --to-event must be given together");
  }
  if (!options.events.key.empty() && options.events.from.empty()) {
    return Usage("--pair-by needs --from-event and --to-event");
  }
  if (options.view == TimeView::kNone && !options.parallelism.empty()) {
    plan.time_view.view = TimeView::kParallelism;
  }
  if (options.view == TimeView::kNone) return {};
  if (inputs != 1) return Usage("--wall, --path, --latency and --parallelism read one recording");
  plan.import.thread_switches = true;
  plan.import.time_label = true;
  plan.import.cpu_label = true;
  plan.import.waits_around_time = true;
  for (const std::string_view field : timeline::kSwitchFields) {
    plan.import.field_labels.emplace_back(field);
  }
  if (!options.events.key.empty()) {
    plan.import.field_labels.push_back(options.events.key);
    plan.time_view.events.key = convert::FieldLabelKey(options.events.key);
  }
  return {};
}

timeline::ThreadChoice ChoiceOf(const TimeViewPlan& plan) {
  return {.pids = plan.filter.pids,
          .tids = plan.filter.tids,
          .comms = plan.filter.comms,
          .cgroups = plan.filter.cgroups};
}

Result<TimeViewResult> MakeTimeView(const TimeViewPlan& plan, const convert::Profile& profile,
                                    const std::vector<convert::InputReport>& inputs) {
  timeline::TimelineOptions options;
  if (!inputs.empty()) {
    options.events = inputs.front().read.task_events;
    options.event_names = inputs.front().read.events;
    options.window = inputs.front().read.window;
    options.pauses = timeline::PausesOf(inputs.front().read);
  }
  const TimeView view = plan.time_view.view;
  // Parallelism is counted without waits.
  if (!inputs.empty() && !NeedsParallelism(view)) options.switches = inputs.front().read.switches;
  // A thread that runs on cores of several types has a clock on each.
  const convert::Profile joined =
      NeedsParallelism(view) ? convert::JoinHybridEvents(profile) : profile;
  const Timeline timeline = Timeline::Build(joined, options);
  const bool has_switches = !inputs.empty() && !inputs.front().read.switches.empty();
  if (!timeline.recorded().waits && !has_switches) return Usage(NoWaitsLine(view));
  Result<TimeViewResult> result = Make(plan, timeline, inputs);
  if (!result) return result;
  const std::vector<std::string> missing = MissingIn(timeline.recorded(), view);
  if (!missing.empty() && !(has_switches && NeedsParallelism(view))) {
    result->warnings.push_back("not recorded: " + Joined(missing, "; "));
  }
  if (!result->path) return result;
  const WalkedWindows& walked = result->path->chosen;
  if (2 * walked.explained_ns < walked.window_ns) {
    result->warnings.push_back(fmt::format(
        "only {:.1f} % of the path is explained: record the whole system, with "
        "'perftape-record --why -a', so that the threads that ended the waits are known",
        100.0 * static_cast<double>(walked.explained_ns) / static_cast<double>(walked.window_ns)));
  }
  return result;
}

void PrintTimeView(const TimeViewResult& result, Console& console) {
  for (const std::string& note : result.notes) console.Note(note);
  for (const std::string& warning : result.warnings) console.Warning(warning);
}

}  // namespace perftape::cli
