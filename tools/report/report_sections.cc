// SPDX-License-Identifier: Apache-2.0
#include "tools/report/report_sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ranges>
#include <span>
#include <utility>

#include "convert/model/label_keys.h"
#include "convert/timeline/wall_clock.h"
#include "formats/base/counted.h"
#include "formats/base/duration.h"
#include "formats/base/unknown_name.h"
#include "formats/json/write.h"
#include "formats/perfdata/period_unit.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"
#include "tools/common/cli/values.h"
#include "tools/common/profiles/input_report.h"
#include "tools/common/profiles/symbol_report.h"
#include "tools/report/path_section.h"

namespace perftape::report_tool {
namespace {

using convert::FrameId;
using convert::FrameTable;
using Json = json::Value;
using summarize::Amount;
using summarize::Contents;
using summarize::EventContents;
using summarize::GroupTable;
using summarize::PercentOf;
using summarize::ReadContents;
using summarize::StackShare;
using summarize::TreeRow;

// Makes the cells of one event's amounts.
class Cells {
 public:
  Cells(const convert::Profile& profile, const EventContents& event)
      : event_(profile[event.event]),
        unit_(profile.text(event_.unit)),
        total_(event.total),
        whole_(event.whole),
        has_periods_(event.has_periods) {}

  Percent Share(const Amount& amount) const { return {PercentOf(amount, whole_)}; }

  // The number of samples, or the value of an event that has no samples.
  Cell Count(const Amount& amount) const {
    if (event_.values == convert::EventValues::kSampled) return amount.samples;
    return Value(amount);
  }
  Quantity Value(const Amount& amount) const {
    const double scale = std::pow(10.0, event_.decimals);
    return {.value = static_cast<double>(amount.weight) / scale,
            .unit = has_periods_ ? unit_ : std::string_view("count")};
  }
  std::string_view CountTitle() const {
    return event_.values == convert::EventValues::kSampled ? "Samples" : "Value";
  }
  // Whether the sum of the periods says more than the number of samples.
  bool HasWeights() const {
    return event_.values == convert::EventValues::kSampled && has_periods_ &&
           (IsTime() || total_.weight != total_.samples);
  }
  bool IsTime() const { return unit_ == perfdata::kNanoseconds; }

 private:
  const convert::Event& event_;
  std::string_view unit_;
  Amount total_, whole_;
  bool has_periods_;
};

// Returns a table whose last columns are `names`, with the left ones for amounts.
Table AmountTable(std::string title, const Cells& cells, std::vector<std::string> shares,
                  std::vector<std::string> names) {
  Table table = {.title = std::move(title), .columns = {}, .rows = {}};
  for (std::string& share : shares) table.columns.push_back({.title = std::move(share)});
  // The shares say as much as the samples.
  table.columns.push_back({.title = std::string(cells.CountTitle()), .is_optional = true});
  if (cells.HasWeights()) table.columns.push_back({.title = cells.IsTime() ? "Time" : "Count"});
  for (std::string& name : names)
    table.columns.push_back({.title = std::move(name), .align = kLeft});
  return table;
}

std::vector<Cell> AmountCells(const Cells& cells, const std::vector<Amount>& shares) {
  std::vector<Cell> row;
  for (const Amount& share : shares) row.emplace_back(cells.Share(share));
  row.push_back(cells.Count(shares.front()));
  if (cells.HasWeights()) row.emplace_back(cells.Value(shares.front()));
  return row;
}

// Returns the time in each state of a wall clock, which is the outermost frame of its stacks.
Table StateTable(const EventContents& event, const FrameTable& frames, const Cells& cells) {
  Table table = AmountTable("States", cells, {"Share"}, {"State"});
  for (std::size_t i = 0; i < timeline::kStates; ++i) {
    const std::string state = timeline::FrameOf(static_cast<timeline::State>(i));
    const auto found = std::ranges::find_if(event.functions, [&](const auto& function) {
      return frames.NameOf(function.frame) == state;
    });
    if (found == event.functions.end()) continue;
    std::vector<Cell> row = AmountCells(cells, {found->inclusive});
    row.emplace_back(std::string(NameOf(static_cast<timeline::State>(i))));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string MoreRowsNote(std::size_t rows) {
  return fmt::format("{} more (-n N shows N)", rows);
}

Cell ParallelismCell(const summarize::LatencyAmount& amount) {
  return amount.parallelism == 0 ? std::string() : fmt::format("{:.2f}", amount.parallelism);
}

// Inserts the columns of latencies before those of a table of functions.
void AddLatencyColumns(const summarize::Latency& latency, const Cells& cells,
                       const ReportPlan& plan, Table& table) {
  table.columns.insert(table.columns.begin(),
                       {{.title = "Latency"},
                        {.title = cells.IsTime() ? "Latency time" : "Latency count"},
                        {.title = "Parallelism"}});
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const summarize::LatencyAmount& amount = latency.functions[i].By(plan.contents.sort);
    table.rows[i].insert(table.rows[i].begin(),
                         {Percent{PercentOf(amount.latency, latency.total.latency)},
                          cells.Value(amount.latency), ParallelismCell(amount)});
  }
}

Table FunctionTable(const EventContents& event, const FrameTable& frames, const Cells& cells,
                    const ReportPlan& plan) {
  Table table = AmountTable("Functions", cells, {"Self", "Total"}, {"Binary", "Function"});
  for (const summarize::FunctionAmounts& function :
       event.functions | std::views::take(plan.functions)) {
    std::vector<Cell> row = AmountCells(cells, {function.self, function.inclusive});
    row.emplace_back(std::string(frames.BinaryOf(function.frame)));
    row.emplace_back(std::string(frames.NameOf(function.frame)));
    table.rows.push_back(std::move(row));
  }
  if (event.latency) AddLatencyColumns(*event.latency, cells, plan, table);
  if (event.functions.size() > plan.functions) {
    table.note = MoreRowsNote(event.functions.size() - plan.functions);
  }
  return table;
}

Cell CommCell(const summarize::NamedThread& thread) {
  return thread.comm.empty() ? std::string(kUnknownName) : thread.comm;
}

Cell TidCell(const summarize::NamedThread& thread) {
  if (thread.tid) return std::int64_t{*thread.tid};
  return "";
}

Table WakeupTable(const EventContents& event, const Cells& cells, const ReportPlan& plan) {
  Table table = AmountTable("Wakeups, with the time that the woken thread had slept", cells,
                            {"Share"}, {"Waker"});
  table.columns.push_back({.title = "Waker TID"});
  table.columns.push_back({.title = "Woken", .align = kLeft});
  table.columns.push_back({.title = "Woken TID"});
  for (const summarize::Wakeups& one : event.wakeups | std::views::take(plan.functions)) {
    std::vector<Cell> row = AmountCells(cells, {one.amount});
    for (const summarize::NamedThread& thread : {one.waker, one.woken}) {
      row.push_back(CommCell(thread));
      row.push_back(TidCell(thread));
    }
    table.rows.push_back(std::move(row));
  }
  if (event.wakeups.size() > plan.functions) {
    table.note = MoreRowsNote(event.wakeups.size() - plan.functions);
  }
  return table;
}

std::string StackText(const StackShare& stack, const FrameTable& frames) {
  std::string text;
  for (const FrameId frame : stack.frames) {
    if (!text.empty()) text += " <- ";
    text += frames.NameOf(frame);
  }
  return text;
}

Table StackTable(const EventContents& event, const FrameTable& frames, const Cells& cells) {
  Table table = AmountTable("Stacks, innermost frame first", cells, {"Share"}, {"Stack"});
  for (const StackShare& stack : event.stacks) {
    std::vector<Cell> row = AmountCells(cells, {stack.amount});
    row.emplace_back(StackText(stack, frames));
    table.rows.push_back(std::move(row));
  }
  if (event.quality.distinct > event.stacks.size()) {
    table.note = fmt::format("{} more", event.quality.distinct - event.stacks.size());
  }
  return table;
}

// Returns "comm", or "label region".
std::string NameOf(const summarize::GroupBy& by) {
  return by.property == summarize::Property::kLabel ? "label " + by.label
                                                    : std::string(WordOf(by.property));
}

Table GroupsTable(const GroupTable& group, const Cells& cells) {
  constexpr std::size_t kMostRows = 50;
  Table table = AmountTable("By " + NameOf(group.by), cells, {"Share"}, {NameOf(group.by)});
  for (const summarize::GroupAmount& one : group.groups | std::views::take(kMostRows)) {
    std::vector<Cell> row = AmountCells(cells, {one.amount});
    row.emplace_back(one.name.empty() ? std::string(kUnknownName) : one.name);
    table.rows.push_back(std::move(row));
  }
  if (group.groups.size() > kMostRows) {
    table.note = fmt::format("{} more", group.groups.size() - kMostRows);
  }
  return table;
}

// Whether no sample has the label or field by which a table adds up.
bool HasNoLabel(const GroupTable& group) {
  return group.by.property == summarize::Property::kLabel && group.groups.size() == 1 &&
         group.groups.front().name.empty();
}

// A chain of only children is not indented, so that deep calls stay readable.
std::vector<std::size_t> Indents(const std::vector<TreeRow>& rows) {
  constexpr std::size_t kDeepest = 40;
  std::vector<std::size_t> children(rows.size() + 1);  // of each row, after those of the root
  std::vector<std::size_t> parents(rows.size());       // 0 is the root
  std::vector<std::size_t> open;                       // the rows above the current one
  for (std::size_t i = 0; i < rows.size(); ++i) {
    open.resize(rows[i].depth);
    parents[i] = open.empty() ? 0 : open.back() + 1;
    ++children[parents[i]];
    open.push_back(i);
  }
  std::vector<std::size_t> indents(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (parents[i] == 0) continue;
    const std::size_t of_parent = indents[parents[i] - 1];
    indents[i] = std::min(children[parents[i]] > 1 ? of_parent + 1 : of_parent, kDeepest);
  }
  return indents;
}

Table TreeTable(const EventContents& event, const FrameTable& frames, const Cells& cells,
                const ReportPlan& plan) {
  const bool is_callees = *plan.contents.tree == summarize::TreeDirection::kCallees;
  Table table = AmountTable(is_callees ? "Call tree, callers first" : "Call tree, callees first",
                            cells, {"Total", "Self"}, {"Binary", "Function"});
  const std::vector<std::size_t> indents = Indents(event.tree);
  for (std::size_t i = 0; i < event.tree.size(); ++i) {
    const TreeRow& node = event.tree[i];
    std::vector<Cell> row = AmountCells(cells, {node.total, node.self});
    row.emplace_back(std::string(frames.BinaryOf(node.frame)));
    std::string name(2 * indents[i], ' ');
    // The arrow continues a chain without another branch.
    const bool is_chain =
        i > 0 && node.depth > event.tree[i - 1].depth && indents[i] == indents[i - 1];
    if (is_chain) name += is_callees ? "-> " : "<- ";
    name += frames.NameOf(node.frame);
    row.emplace_back(std::move(name));
    table.rows.push_back(std::move(row));
  }
  table.note = fmt::format("branches below {} % are left out (--percent-limit)",
                           plan.contents.percent_limit);
  return table;
}

Table LinesTable(const EventContents& event, const FrameTable& frames, const Cells& cells) {
  Table table = AmountTable("Source lines", cells, {"Self", "Total"}, {"Function", "Line"});
  for (const summarize::LineAmounts& line : event.lines) {
    std::vector<Cell> row = AmountCells(cells, {line.self, line.inclusive});
    row.emplace_back(std::string(frames.NameOf(line.frame)));
    row.emplace_back(line.number == 0 ? std::string(kUnknownName)
                                      : fmt::format("{}:{}", line.filename, line.number));
    table.rows.push_back(std::move(row));
  }
  if (event.lines.empty()) table.note = "no function matches --lines";
  return table;
}

// Returns "905 samples, 0.905 s; 231 different stacks, 14.2 frames on average". Of other events
// than clocks, "500 samples, event count 50000", as perf report calls it.
std::string TotalsLine(const EventContents& event, const Cells& cells) {
  const std::string amount =
      cells.CountTitle() == "Samples"
          ? Counted(static_cast<std::uint64_t>(event.total.samples), "sample")
          : CellText(cells.Value(event.total));
  std::string weight;
  if (cells.HasWeights()) {
    weight = fmt::format(", {}{}", cells.IsTime() ? "" : "event count ",
                         CellText(cells.Value(event.total)));
  }
  return fmt::format("{}{}; {}, {:.1f} frames on average", amount, weight,
                     Counted(event.quality.distinct, "different stack"),
                     event.quality.average_frames);
}

std::string DifferenceLine(const EventContents& event, const Cells& cells) {
  return fmt::format(
      "a difference of profiles, with negative values: shares refer to the sum of the absolute "
      "values, {}",
      CellText(cells.Value(event.whole)));
}

// Returns "latency 0.452 s; parallelism 2.00 on average".
std::string LatencyLine(const summarize::Latency& latency, const Cells& cells) {
  return fmt::format("latency {}; parallelism {:.2f} on average",
                     CellText(cells.Value(latency.total.latency)), latency.total.parallelism);
}

Section SectionOf(const EventContents& event, const Contents& contents, const ReportPlan& plan) {
  const Cells cells(contents.profile, event);
  Section section;
  section.title = contents.profile.text(contents.profile[event.event].name);
  section.lines = {TotalsLine(event, cells)};
  if (event.is_difference) section.lines.push_back(DifferenceLine(event, cells));
  if (event.latency) section.lines.push_back(LatencyLine(*event.latency, cells));
  section.warnings = event.warnings;
  if (plan.time_view.view == cli::TimeView::kWall) {
    section.tables.push_back(StateTable(event, contents.frames, cells));
  }
  if (plan.functions != 0) {
    section.tables.push_back(FunctionTable(event, contents.frames, cells, plan));
    if (!event.wakeups.empty()) section.tables.push_back(WakeupTable(event, cells, plan));
  }
  if (plan.contents.stacks != 0)
    section.tables.push_back(StackTable(event, contents.frames, cells));
  for (const GroupTable& group : event.groups) {
    section.tables.push_back(GroupsTable(group, cells));
    if (HasNoLabel(group)) {
      section.tables.back().rows.clear();
      section.tables.back().note = "no sample of this event has this label";
    }
  }
  if (plan.contents.tree) section.tables.push_back(TreeTable(event, contents.frames, cells, plan));
  if (plan.contents.lines) section.tables.push_back(LinesTable(event, contents.frames, cells));
  return section;
}

// Blocks for the numbers of samples over time; a space for none.
std::string HistogramText(const convert::TimeHistogram& histogram) {
  constexpr std::string_view kBlocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::size_t kHighest = std::size(kBlocks) - 1;
  const std::uint64_t most = std::ranges::max(histogram.samples);
  std::string text;
  for (const std::uint64_t samples : histogram.samples) {
    // Every bin with samples has a block.
    const double share = static_cast<double>(samples) / static_cast<double>(most);
    text += kBlocks[static_cast<std::size_t>(std::ceil(share * kHighest))];
  }
  return text;
}

Section ReadSection(const Contents& contents, const ReadContents& read) {
  Section section;
  for (const convert::InputReport& input : read.inputs) {
    section.lines.push_back(
        fmt::format("{}: {}", input.name, cli::ReadLine(input.read, input.format)));
    if (const convert::TimeHistogram& histogram = input.read.histogram;
        !histogram.samples.empty()) {
      section.lines.push_back(
          fmt::format("|{}| {:.3f} s", HistogramText(histogram),
                      static_cast<double>(histogram.last_ns - histogram.first_ns) / kNsPerSecond));
    }
  }
  for (const std::string& comment : contents.profile.metadata().comments) {
    section.lines.push_back(comment);
  }
  return section;
}

// Writes the numbers of one event.
class EventWriter {
 public:
  EventWriter(const Contents& contents, const EventContents& event)
      : contents_(contents), event_(event) {}

  Json Write(const ReportPlan& plan) const {
    const convert::Profile& profile = contents_.profile;
    const convert::Event& event = profile[event_.event];
    Json json = {{"name", profile.text(event.name)},
                 {"unit", profile.text(event.unit)},
                 {"weights", event_.has_periods ? "periods" : "samples"},
                 {"total", AmountJson(event_.total)},
                 {"distinct_stacks", event_.quality.distinct},
                 {"average_frames", event_.quality.average_frames},
                 {"unnamed", AmountJson(event_.quality.unnamed)},
                 {"unnamed_root", AmountJson(event_.quality.with_unnamed_root)},
                 {"warnings", event_.warnings}};
    if (event.decimals != 0) json["decimals"] = event.decimals;
    if (event_.latency) json["latency"] = LatencyJson(event_.latency->total);
    json["functions"] = FunctionsJson(plan.functions);
    if (!event_.wakeups.empty()) json["wakeups"] = WakeupsJson(plan.functions);
    if (plan.contents.stacks != 0) json["stacks"] = StacksJson();
    for (const GroupTable& group : event_.groups) json["by"][NameOf(group.by)] = GroupJson(group);
    if (plan.contents.tree) json["tree"] = TreeJson();
    if (plan.contents.lines) json["lines"] = LinesJson();
    return json;
  }

 private:
  Json AmountJson(const Amount& amount) const {
    return {{"samples", amount.samples},
            {"weight", amount.weight},
            {"percent", PercentOf(amount, event_.whole)}};
  }

  Json LatencyJson(const summarize::LatencyAmount& amount) const {
    return {{"weight", amount.latency.weight},
            {"percent", PercentOf(amount.latency, event_.latency->total.latency)},
            {"parallelism", amount.parallelism}};
  }

  Json FrameJson(FrameId frame) const {
    Json json = {{"function", contents_.frames.NameOf(frame)}};
    const std::string_view binary = contents_.profile.text(contents_.frames[frame].dso);
    if (!binary.empty()) json["binary"] = binary;
    return json;
  }

  Json FunctionsJson(std::size_t most) const {
    auto list = Json::EmptyList();
    for (std::size_t i = 0; i < std::min(most, event_.functions.size()); ++i) {
      const summarize::FunctionAmounts& function = event_.functions[i];
      Json one = FrameJson(function.frame);
      one["self"] = AmountJson(function.self);
      one["total"] = AmountJson(function.inclusive);
      if (event_.latency) {
        one["latency"] = {{"self", LatencyJson(event_.latency->functions[i].self)},
                          {"total", LatencyJson(event_.latency->functions[i].inclusive)}};
      }
      list.push_back(std::move(one));
    }
    return list;
  }

  static Json ThreadJson(const summarize::NamedThread& thread) {
    Json json = {{"comm", thread.comm}};
    json["tid"] = thread.tid ? Json(*thread.tid) : Json(nullptr);
    return json;
  }

  Json WakeupsJson(std::size_t most) const {
    auto list = Json::EmptyList();
    for (const summarize::Wakeups& one : event_.wakeups | std::views::take(most)) {
      list.push_back({{"waker", ThreadJson(one.waker)},
                      {"woken", ThreadJson(one.woken)},
                      {"amount", AmountJson(one.amount)}});
    }
    return list;
  }

  Json StacksJson() const {
    auto list = Json::EmptyList();
    for (const StackShare& stack : event_.stacks) {
      auto frames = Json::EmptyList();
      for (const FrameId frame : stack.frames) frames.push_back(contents_.frames.NameOf(frame));
      list.push_back({{"amount", AmountJson(stack.amount)}, {"frames", std::move(frames)}});
    }
    return list;
  }

  Json GroupJson(const GroupTable& group) const {
    auto list = Json::EmptyList();
    for (const summarize::GroupAmount& one : group.groups) {
      list.push_back({{"name", one.name}, {"amount", AmountJson(one.amount)}});
    }
    return list;
  }

  Json TreeJson() const {
    auto list = Json::EmptyList();
    for (const TreeRow& row : event_.tree) {
      Json one = {{"depth", row.depth}};
      one.Merge(FrameJson(row.frame));
      one["total"] = AmountJson(row.total);
      one["self"] = AmountJson(row.self);
      list.push_back(std::move(one));
    }
    return list;
  }

  Json LinesJson() const {
    auto list = Json::EmptyList();
    for (const summarize::LineAmounts& line : event_.lines) {
      Json one = FrameJson(line.frame);
      one["filename"] = line.filename;
      one["line"] = line.number;
      one["self"] = AmountJson(line.self);
      one["total"] = AmountJson(line.inclusive);
      list.push_back(std::move(one));
    }
    return list;
  }

  const Contents& contents_;
  const EventContents& event_;
};

Json InputsJson(const ReadContents& read) {
  auto list = Json::EmptyList();
  for (const convert::InputReport& input : read.inputs) {
    Json one = {{"name", input.name},
                {"format", input.format},
                {"samples", input.read.samples},
                {"lost_samples", input.read.lost_samples},
                {"lost_records", input.read.lost_records},
                {"problems", input.read.problems}};
    if (const convert::TimeHistogram& histogram = input.read.histogram;
        !histogram.samples.empty()) {
      one["histogram"] = {{"first_ns", histogram.first_ns},
                          {"last_ns", histogram.last_ns},
                          {"samples", histogram.samples}};
    }
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace

std::string NoLabelLine(std::string_view label, const convert::Profile& profile,
                        std::set<std::string> fields) {
  for (const std::span<const convert::Label> set : profile.labels()) {
    for (const convert::Label& one : set) {
      const std::string_view key = profile.text(one.key);
      // The others have words of their own.
      if (!convert::IsSampleField(key) || convert::IsWokenLabel(key)) fields.emplace(key);
    }
  }
  const std::string start =
      fmt::format("--by label:{}: no sample has this label, and no event has this field",
                  cli::EscapeForTerminal(label));
  return fields.empty() ? start : fmt::format("{}: {}", start, cli::ChooseText(label, fields));
}

std::vector<Section> SectionsOf(const Contents& contents, const ReadContents& read,
                                const ReportPlan& plan) {
  std::vector<Section> sections = {ReadSection(contents, read)};
  for (const EventContents& event : contents.events) {
    sections.push_back(SectionOf(event, contents, plan));
  }
  return sections;
}

std::string ReportJson(const Contents& contents, const ReadContents& read,
                       const std::optional<cli::PathFacts>& path, const ReportPlan& plan) {
  Json json = {cli::SchemaMember(cli::kReportSchema),
               {"inputs", InputsJson(read)},
               {"comments", contents.profile.metadata().comments},
               {"symbols", cli::SymbolsJson(read.symbols)},
               {"events", Json::EmptyList()}};
  if (path) json["path"] = PathJson(*path, plan);
  for (const EventContents& event : contents.events) {
    json["events"].push_back(EventWriter(contents, event).Write(plan));
  }
  return json::Text(json, json::Layout::kIndented);
}

}  // namespace perftape::report_tool
