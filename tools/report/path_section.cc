// SPDX-License-Identifier: Apache-2.0
#include "tools/report/path_section.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "formats/base/counted.h"
#include "formats/base/text.h"
#include "formats/json/value.h"
#include "formats/perfdata/period_unit.h"
#include "tools/report/path_names.h"
#include "tools/report/path_reasons.h"
#include "tools/report/path_times.h"

namespace perftape::report_tool {
namespace {

using cli::PathFacts;
using convert::Profile;
using convert::ThreadId;
using Json = json::Value;
using timeline::PathPart;
using timeline::Reason;

Quantity Time(std::int64_t ns) {
  return {.value = static_cast<double>(ns), .unit = perfdata::kNanoseconds};
}

Percent Explained(const cli::WalkedWindows& walked) {
  const auto total = static_cast<double>(std::max<std::int64_t>(walked.window_ns, 1));
  return {.value = 100 * static_cast<double>(walked.explained_ns) / total};
}

// Parts of threads with one name that are in the same functions of the program.
struct Row {
  std::string comm = {};
  Reason reason = {};
  std::string functions = {};
  PathTimes times = {};
};

// The largest values first.
std::vector<Row> RowsOf(const PathFacts& path, const PathNames& names) {
  constexpr std::size_t kMostFunctions = 3;
  const Profile& profile = path.recorded;
  std::map<std::tuple<std::string_view, Reason, std::string>, PathTimes> sums;
  const auto add = [&](const cli::WalkedWindows& walked, std::int64_t PathTimes::*side) {
    for (const PathPart& part : walked.parts) {
      const std::string_view comm = profile.text(profile[part.thread].comm);
      const std::string functions = ChainOf(names.OwnFunctions(part.stack), kMostFunctions);
      sums[{comm, part.reason, functions}].*side += part.ns;
    }
  };
  add(path.chosen, &PathTimes::ns);
  if (path.against) add(*path.against, &PathTimes::against_ns);
  std::vector<Row> rows;
  for (const auto& [key, times] : sums) {
    const auto& [comm, reason, functions] = key;
    rows.push_back(
        {.comm = std::string(comm), .reason = reason, .functions = functions, .times = times});
  }
  std::ranges::stable_sort(rows, std::greater(),
                           [&](const Row& row) { return std::abs(row.times.ValueIn(path)); });
  return rows;
}

Table PartTable(const PathFacts& path, const PathNames& names, const ReportPlan& plan) {
  Table table = {.title = path.against ? "On the path, the largest change first" : "On the path",
                 .columns = TimeColumns(path),
                 .rows = {}};
  for (const char* title : {"Thread", "State", "Functions"}) {
    table.columns.push_back({.title = title, .align = kLeft});
  }
  const std::vector<Row> rows = RowsOf(path, names);
  for (const Row& row : rows | std::views::take(plan.functions)) {
    std::vector<Cell>& cells = table.rows.emplace_back(TimeCells(row.times, path));
    cells.insert(cells.end(), {row.comm, std::string(NameOf(row.reason)), row.functions});
  }
  table.note = "shortening a row saves at most its time";
  if (rows.size() > plan.functions) {
    table.note += fmt::format("; {} more (-n N shows N)", rows.size() - plan.functions);
  }
  return table;
}

Table RanInsteadTable(const PathFacts& path, const ReportPlan& plan) {
  Table table = {.title = "Ran on the CPUs that the path waited for",
                 .columns = {{.title = "Time"}, {.title = "Thread", .align = kLeft}},
                 .rows = {}};
  for (const auto& ran : path.chosen.cpu_use.ran | std::views::take(plan.functions)) {
    table.rows.push_back({Time(ran.ns), ran.comm});
  }
  return table;
}

// Appends who used the CPUs that the path waited for, if that was not recorded.
void AppendCpuUse(const PathFacts& path, std::vector<std::string>& lines) {
  const auto append = [&](std::string_view side, const cli::WalkedWindows& walked) {
    const std::string others = cli::NotRecordedText(walked.cpu_use);
    if (others.empty()) return;
    lines.push_back(fmt::format("{}waits for a CPU: {}, {}", side,
                                CellText(Time(walked.cpu_use.waited_ns)), others));
  };
  append("", path.chosen);
  if (path.against) append("against: ", *path.against);
}

// Warns if the path of whole lives is mostly that of threads without work.
void AppendIdleWarning(const cli::WalkedWindows& walked, std::vector<std::string>& warnings) {
  constexpr double kMostIdle = 0.8;
  if (walked.count < 2) return;
  std::int64_t idle = 0;
  for (const PathPart& part : walked.parts) {
    const bool is_idle = part.reason == Reason::kTimer || part.reason == Reason::kNetwork ||
                         part.reason == Reason::kInterrupt || part.reason == Reason::kSleep;
    if (is_idle) idle += part.ns;
  }
  if (static_cast<double>(idle) < kMostIdle * static_cast<double>(walked.window_ns)) return;
  warnings.push_back(
      fmt::format("the path covers the whole lives of {}, which mostly waited for work: choose "
                  "threads (--comm, --pid), or the time from a request to its answer "
                  "(--from-event, --to-event); --wall shows each thread",
                  Counted(walked.count, "thread")));
}

Table LengthTable(const timeline::WindowLengths& lengths) {
  Table table = {.title = "Lengths of the windows",
                 .columns = {{.title = "From"}, {.title = "To"}, {.title = "Windows"}},
                 .rows = {}};
  for (std::size_t i = 0; i < lengths.by_power.size(); ++i) {
    if (lengths.by_power[i] == 0) continue;
    const auto from = std::int64_t{1} << std::min<std::size_t>(i, 62);
    table.rows.push_back(
        {Time(from), Time(2 * from - 1), static_cast<std::int64_t>(lengths.by_power[i])});
  }
  return table;
}

Table HopTable(const PathFacts& path) {
  Table table = {.title = "Steps of the path",
                 .columns = {{.title = "Start"},
                             {.title = "Time"},
                             {.title = "Thread", .align = kLeft},
                             {.title = "TID"},
                             {.title = "State", .align = kLeft}},
                 .rows = {}};
  for (const timeline::Hop& hop : path.chosen.hops) {
    const convert::Thread& thread = path.recorded[hop.thread];
    table.rows.push_back({Time(hop.start_ns), Time(hop.ns),
                          std::string(path.recorded.text(thread.comm)), std::int64_t{thread.tid},
                          std::string(NameOf(hop.reason))});
  }
  return table;
}

// Adds up the parts of one thread, reason and stack, whoever waited for it. The largest first.
std::vector<PathPart> WithoutBranches(const std::vector<PathPart>& parts) {
  std::map<std::tuple<ThreadId, Reason, convert::StackId>, std::int64_t> sums;
  for (const PathPart& part : parts) sums[{part.thread, part.reason, part.stack}] += part.ns;
  std::vector<PathPart> joined;
  for (const auto& [key, ns] : sums) {
    const auto& [thread, reason, stack] = key;
    joined.push_back({.thread = thread, .reason = reason, .stack = stack, .ns = ns});
  }
  std::ranges::stable_sort(joined, std::greater(), &PathPart::ns);
  return joined;
}

Json ThreadJson(const Profile& profile, ThreadId id) {
  const convert::Thread& thread = profile[id];
  return {{"comm", profile.text(thread.comm)}, {"pid", thread.pid}, {"tid", thread.tid}};
}

Json WalkedJson(const cli::WalkedWindows& walked, const Profile& recorded, const PathNames& names) {
  Json json = {{"windows", walked.count},
               {"window_ns", walked.window_ns},
               {"explained_ns", walked.explained_ns},
               {"parts", Json::EmptyList()},
               {"ran_instead", Json::EmptyList()},
               {"ran_instead_not_recorded_ns", walked.cpu_use.not_recorded_ns}};
  for (const PathPart& part : WithoutBranches(walked.parts)) {
    Json one = ThreadJson(recorded, part.thread);
    one["state"] = NameOf(part.reason);
    one["function"] = names.InnermostOwn(part.stack);
    one["ns"] = part.ns;
    one["stack"] = names.Frames(part.stack);
    json["parts"].push_back(std::move(one));
  }
  for (const timeline::RanInstead& ran : walked.cpu_use.ran) {
    json["ran_instead"].push_back({{"comm", ran.comm}, {"ns", ran.ns}});
  }
  return json;
}

}  // namespace

Section PathSection(const PathFacts& path, const ReportPlan& plan) {
  const timeline::WindowLengths& lengths = path.lengths;
  Section section = {.title = "Critical path", .lines = {}, .warnings = {}, .tables = {}};
  const cli::WalkedWindows& chosen = path.chosen;
  std::string windows = fmt::format("{}, {} in all", Counted(chosen.count, "window"),
                                    CellText(Time(chosen.window_ns)));
  if (chosen.count != lengths.count) windows += fmt::format("; chosen from {}", lengths.count);
  section.lines.push_back(std::move(windows));
  if (lengths.count > 1) {
    section.lines.push_back(fmt::format("length: median {}, p90 {}, p99 {}, max {}",
                                        CellText(Time(lengths.median)), CellText(Time(lengths.p90)),
                                        CellText(Time(lengths.p99)), CellText(Time(lengths.max))));
  }
  section.lines.push_back(fmt::format("explained: {}", CellText(Explained(chosen))));
  if (path.against) {
    const std::vector<Cell> cells = TimeCells(LengthOf(path), path);
    section.lines.push_back(fmt::format("{} on average, against {} of {}", CellText(cells[1]),
                                        CellText(cells[2]),
                                        Counted(path.against->count, "window")));
  }
  AppendCpuUse(path, section.lines);
  if (plan.time_view.events.from.empty()) AppendIdleWarning(chosen, section.warnings);
  const PathNames names(path.recorded);
  section.tables.push_back(ReasonTable(
      ReasonsOf(path, names), path, plan.rows.value_or(kMostReasons), plan.contents.percent_limit));
  section.tables.push_back(PartTable(path, names, plan));
  if (!path.chosen.cpu_use.ran.empty()) section.tables.push_back(RanInsteadTable(path, plan));
  if (lengths.count > 1) section.tables.push_back(LengthTable(lengths));
  if (plan.hops) section.tables.push_back(HopTable(path));
  return section;
}

Json PathJson(const PathFacts& path, const ReportPlan& plan) {
  const timeline::WindowLengths& lengths = path.lengths;
  const PathNames names(path.recorded);
  Json json = WalkedJson(path.chosen, path.recorded, names);
  json["all_windows"] = {{"count", lengths.count},
                         {"median_ns", lengths.median},
                         {"p90_ns", lengths.p90},
                         {"p99_ns", lengths.p99},
                         {"max_ns", lengths.max}};
  json["reasons"] = ReasonJson(ReasonsOf(path, names), path);
  if (path.against) json["against"] = WalkedJson(*path.against, path.recorded, names);
  if (!plan.hops) return json;
  json["hops"] = Json::EmptyList();
  for (const timeline::Hop& hop : path.chosen.hops) {
    Json one = ThreadJson(path.recorded, hop.thread);
    one["state"] = NameOf(hop.reason);
    one["start_ns"] = hop.start_ns;
    one["ns"] = hop.ns;
    json["hops"].push_back(std::move(one));
  }
  return json;
}

}  // namespace perftape::report_tool
