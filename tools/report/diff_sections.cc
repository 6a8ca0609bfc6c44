// SPDX-License-Identifier: Apache-2.0
#include "tools/report/diff_sections.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <ranges>
#include <utility>

#include "formats/base/counted.h"
#include "formats/json/write.h"
#include "tools/common/cli/escape.h"
#include "tools/common/cli/json_schema.h"
#include "tools/report/fail_rules.h"

namespace perftape::report_tool {
namespace {

using Json = json::Value;
using summarize::Change;
using summarize::Estimate;
using summarize::Measure;
using summarize::Violation;

constexpr double kRiskOfInterval = 0.05;

// Makes the cells of the changes of one event.
class ChangeCells {
 public:
  ChangeCells(const summarize::EventDifference& event, Measure measure)
      : unit_(event.unit), measure_(measure) {}

  static std::vector<Column> Columns(std::string_view what) {
    return {{.title = fmt::format("{} change", what)},
            {.title = "+-"},
            {.title = "Before"},
            {.title = "After"}};
  }

  // Appends change, uncertainty, before and after. Quantities change by percent of the old value;
  // what had none is new.
  void Append(const Change& change, std::vector<Cell>& row) const {
    const Estimate difference = change.difference();
    const double error = ErrorOf(difference, kRiskOfInterval);
    const bool is_significant = std::abs(difference.value) > error;
    const double scale = measure_ == Measure::kShare ? 1 : std::abs(change.before.value);
    if (scale == 0 && difference.value != 0) {
      row.emplace_back("new");
      row.emplace_back("");
    } else {
      const auto percent = [scale](double value) { return scale == 0 ? 0 : 100 * value / scale; };
      row.emplace_back(Difference{.value = percent(difference.value),
                                  .unit = measure_ == Measure::kShare ? "pp" : "%",
                                  .is_significant = is_significant});
      row.emplace_back(Uncertainty{percent(error)});
    }
    row.push_back(Value(change.before));
    row.push_back(Value(change.after));
  }

  Cell Value(const Estimate& estimate) const {
    if (measure_ == Measure::kShare) return Percent{100 * estimate.value};
    return Quantity{.value = std::round(estimate.value), .unit = unit_};
  }

 private:
  std::string_view unit_;
  Measure measure_;
};

Table FunctionTable(const summarize::EventDifference& event, const ChangeCells& cells,
                    const ReportPlan& plan) {
  const bool by_self = plan.contents.sort == summarize::SortBy::kSelf;
  Table table = {.title = "Functions, the largest change first",
                 .columns = ChangeCells::Columns(by_self ? "Self" : "Total"),
                 .rows = {}};
  for (const char* title : {"Binary", "Function"}) {
    table.columns.push_back({.title = title, .align = kLeft});
  }
  for (const summarize::FunctionChange& function :
       event.functions | std::views::take(plan.functions)) {
    std::vector<Cell>& row = table.rows.emplace_back();
    cells.Append(by_self ? function.self : function.inclusive, row);
    row.emplace_back(function.binary);
    row.emplace_back(function.function);
  }
  if (event.functions.size() > plan.functions) {
    table.note = fmt::format("{} more (-n N shows N)", event.functions.size() - plan.functions);
  }
  return table;
}

Table StackTable(const summarize::EventDifference& event, const ChangeCells& cells,
                 const ReportPlan& plan) {
  Table table = {.title = "Stacks, innermost frame first",
                 .columns = ChangeCells::Columns("Self"),
                 .rows = {}};
  table.columns.push_back({.title = "Stack", .align = kLeft});
  for (const summarize::StackChange& stack :
       event.stacks | std::views::take(plan.contents.stacks)) {
    std::vector<Cell>& row = table.rows.emplace_back();
    cells.Append(stack.self, row);
    std::string text;
    for (const std::string& frame : stack.frames) text += (text.empty() ? "" : " <- ") + frame;
    row.emplace_back(std::move(text));
  }
  return table;
}

// Whether it is seen, most times, if a function with a quarter of the samples becomes twice as
// slow.
bool HasPower(const summarize::EventDifference& event) {
  constexpr double kBefore = 0.25, kAfter = 0.5;
  if (event.samples_before <= 0 || event.samples_after <= 0) return true;
  const auto one = [](double share, std::int64_t samples) {
    const auto count = static_cast<double>(samples);
    return summarize::MeanOf(std::array{summarize::ObservedShare(share * count, count, count)});
  };
  const Estimate difference =
      summarize::DifferenceOf(one(kBefore, event.samples_before), one(kAfter, event.samples_after));
  return difference.value > ErrorOf(difference, kRiskOfInterval);
}

std::string NoPowerLine(const summarize::EventDifference& event) {
  return fmt::format(
      "{} before and {} after are too few to compare: a function with 25 % of them could become "
      "twice as slow unnoticed; record longer, at a higher rate (-F), or several times",
      Counted(static_cast<std::uint64_t>(event.samples_before), "sample"), event.samples_after);
}

Json EstimateJson(const Estimate& estimate) {
  return {{"value", estimate.value}, {"error_95", ErrorOf(estimate, kRiskOfInterval)}};
}

Json ChangeJson(const Change& change) {
  return {{"before", EstimateJson(change.before)},
          {"after", EstimateJson(change.after)},
          {"difference", EstimateJson(change.difference())}};
}

Json EventJson(const ComparedEvent& compared, const ReportPlan& plan) {
  const summarize::EventDifference& event = compared.difference;
  Json renamed = Json::EmptyObject();
  for (const auto& [before, after] : event.renamed) renamed[before] = after;
  Json json = {{"name", event.event},
               {"unit", event.unit},
               {"samples_before", event.samples_before},
               {"samples_after", event.samples_after},
               {"total", ChangeJson(event.total)},
               {"renamed_binaries", std::move(renamed)},
               {"functions", Json::EmptyList()}};
  for (const summarize::FunctionChange& function :
       event.functions | std::views::take(plan.functions)) {
    json["functions"].push_back({{"function", function.function},
                                 {"binary", function.binary},
                                 {"self", ChangeJson(function.self)},
                                 {"total", ChangeJson(function.inclusive)}});
  }
  for (const summarize::StackChange& stack :
       event.stacks | std::views::take(plan.contents.stacks)) {
    json["stacks"].push_back({{"frames", stack.frames}, {"self", ChangeJson(stack.self)}});
  }
  json["violations"] = Json::EmptyList();
  for (const Violation& violation : compared.rules.violations) {
    json["violations"].push_back({{"rule", violation.rule->text},
                                  {"function", violation.function->function},
                                  {"text", ViolationText(violation)}});
  }
  return json;
}

}  // namespace

bool ListsViolations(const ReportPlan& plan) {
  return plan.output != "-" || plan.format != ReportFormat::kText;
}

std::vector<std::string> ViolationLines(const ComparedEvent& event, const ReportPlan& plan) {
  const std::vector<Violation>& all = event.rules.violations;
  std::vector<std::string> lines;
  for (const Violation& violation : all | std::views::take(plan.violations)) {
    lines.push_back(ViolationText(violation));
  }
  if (all.size() > lines.size()) {
    lines.push_back(fmt::format("and {} more (-n N shows N)", all.size() - lines.size()));
  }
  return lines;
}

std::vector<Section> SectionsOf(const std::vector<ComparedEvent>& events, const ReportPlan& plan) {
  std::vector<Section> sections;
  for (const ComparedEvent& compared : events) {
    const summarize::EventDifference& event = compared.difference;
    const ChangeCells cells(event, plan.measure);
    Section& section = sections.emplace_back();
    section.title = event.event;
    const ChangeCells totals(event, Measure::kWeight);
    if (event.samples_before != 0 || event.samples_after != 0) {
      section.lines.push_back(
          fmt::format("{} before, {} after",
                      Counted(static_cast<std::uint64_t>(event.samples_before), "sample"),
                      event.samples_after));
    }
    section.lines.push_back(fmt::format("{} per recording before, {} after",
                                        CellText(totals.Value(event.total.before)),
                                        CellText(totals.Value(event.total.after))));
    if (!HasPower(event)) section.warnings.push_back(NoPowerLine(event));
    section.lines.push_back("the true change is within +- with a probability of 95 %");
    for (const auto& [old_name, new_name] : event.renamed) {
      section.lines.push_back(fmt::format(
          "{} is only in the old profile, {} only in the new one: their functions are compared",
          old_name, new_name));
    }
    if (ListsViolations(plan)) {
      std::ranges::copy(ViolationLines(compared, plan), std::back_inserter(section.warnings));
    }
    section.tables.push_back(FunctionTable(event, cells, plan));
    if (plan.contents.stacks != 0) section.tables.push_back(StackTable(event, cells, plan));
  }
  return sections;
}

std::string DiffJson(const std::vector<ComparedEvent>& events, const ReportPlan& plan) {
  Json json = {cli::SchemaMember(cli::kReportDiffSchema),
               {"measure", plan.measure == Measure::kShare ? "share" : "weight"},
               {"events", Json::EmptyList()}};
  for (const ComparedEvent& event : events) json["events"].push_back(EventJson(event, plan));
  return json::Text(json, json::Layout::kIndented);
}

}  // namespace perftape::report_tool
