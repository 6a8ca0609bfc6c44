// SPDX-License-Identifier: Apache-2.0
#include "tools/perf/diff_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "convert/frames/frame_table.h"
#include "convert/summarize/amount.h"
#include "convert/summarize/breakdowns.h"
#include "tools/common/cli/escape.h"

namespace perftape::perf_tool {
namespace {

// One symbol with its share in each file.
struct DiffRow {
  const SymbolKey* key = nullptr;
  std::vector<std::optional<SymbolShare>> shares;

  double PercentIn(std::size_t file) const { return shares[file] ? shares[file]->percent : 0; }
};

// A value of a later file; nothing for a symbol that is not in it. perf computes no ratio without a
// baseline.
std::optional<double> ValueOf(const DiffRow& row, std::size_t file, DiffColumn column) {
  if (!row.shares[file]) return std::nullopt;
  if (column != DiffColumn::kRatio) return row.PercentIn(file) - row.PercentIn(0);
  if (!row.shares[0] || row.shares[0]->period == 0) return 0;
  return static_cast<double>(row.shares[file]->period) / static_cast<double>(row.shares[0]->period);
}

// Symbols of the second file come first, by their value; then the others, by their baseline.
std::pair<double, double> RankOf(const DiffRow& row, DiffColumn column) {
  constexpr double kLast = -1e300;
  const std::optional<double> value = ValueOf(row, 1, column);
  if (!value) return {kLast, row.PercentIn(0)};
  return {column == DiffColumn::kDeltaAbsolute ? std::abs(*value) : *value, row.PercentIn(0)};
}

std::vector<DiffRow> RowsOf(std::span<const SymbolShares> files, DiffColumn column) {
  std::map<SymbolKey, DiffRow> by_key;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const auto& [key, share] : files[i]) {
      DiffRow& row = by_key[key];
      row.shares.resize(files.size());
      row.shares[i] = share;
      row.key = &key;
    }
  }
  std::vector<DiffRow> rows;
  for (auto& [key, row] : by_key) rows.push_back(std::move(row));
  std::ranges::stable_sort(rows, [&](const DiffRow& a, const DiffRow& b) {
    return RankOf(a, column) > RankOf(b, column);
  });
  return rows;
}

struct ColumnStyle {
  std::string_view title;
  std::size_t width;
};

ColumnStyle StyleOf(DiffColumn column) {
  switch (column) {
    case DiffColumn::kDelta:
      return {"Delta", 7};
    case DiffColumn::kDeltaAbsolute:
      return {"Delta Abs", 9};
    case DiffColumn::kRatio:
      return {"Ratio", 14};
  }
  return {};
}

std::string ValueText(std::optional<double> value, DiffColumn column) {
  if (!value) return "";
  return column == DiffColumn::kRatio ? fmt::format("{:.6f}", *value)
                                      : fmt::format("{:+.2f}%", *value);
}

// A column: its title, the width of title and values, and whether they begin on the left.
struct Column {
  std::string title;
  std::size_t width = 0;
  bool is_left = false;
};

std::vector<Column> ColumnsOf(std::span<const DiffRow> rows, std::size_t files, DiffColumn column) {
  const ColumnStyle style = StyleOf(column);
  std::vector<Column> columns = {{files > 2 ? "Baseline/0" : "Baseline", 8, false}};
  for (std::size_t i = 1; i < files; ++i) {
    columns.push_back(
        {std::string(style.title) + (files > 2 ? fmt::format("/{}", i) : ""), style.width, false});
  }
  columns.push_back({"Shared Object", 0, true});
  columns.push_back({"Symbol", 0, true});
  for (const DiffRow& row : rows) {
    Column& dso = columns[files];
    dso.width = std::max(dso.width, cli::EscapeForTerminal(row.key->dso).size());
    columns.back().width =
        std::max(columns.back().width, cli::EscapeForTerminal(row.key->symbol).size());
  }
  for (Column& shown : columns) shown.width = std::max(shown.width, shown.title.size());
  return columns;
}

std::string HeaderText(std::span<const Column> columns, std::span<const std::string> names) {
  std::string text = "#\n";
  if (names.size() > 2) {
    text += "# Data files:\n";
    for (std::size_t i = 0; i < names.size(); ++i) {
      text += fmt::format("#  [{}] {} {}\n", i, cli::EscapeForTerminal(names[i]),
                          i == 0 ? "(Baseline)" : "");
    }
    text += "#\n";
  }
  std::string titles = "# ", dots = "# ";
  for (const Column& column : columns) {
    const std::string_view gap = titles.size() == 2 ? "" : "  ";
    titles += gap;
    titles += column.is_left ? fmt::format("{:{}}", column.title, column.width)
                             : fmt::format("{:>{}}", column.title, column.width);
    dots += fmt::format("{}{}", gap, std::string(column.width, '.'));
  }
  return text + titles + "\n" + dots + "\n#\n";
}

}  // namespace

SymbolShares SharesOf(const convert::Profile& profile, convert::EventId event) {
  const convert::FrameTable frames(profile, convert::FrameIdentity::kFunction);
  const summarize::StackAmounts amounts(profile, event);
  SymbolShares shares;
  for (const summarize::FunctionAmounts& function :
       summarize::SumFunctions(profile, frames, amounts)) {
    if (function.self.is_zero()) continue;
    const convert::Frame& frame = frames[function.frame];
    const char letter = frame.type == convert::FrameType::kKernel ? 'k' : '.';
    const std::string_view dso = frames.BinaryOf(function.frame);
    SymbolShare& share = shares[{
        .dso = std::string(dso.empty() ? "[unknown]" : dso),
        .symbol = fmt::format("[{}] {}", letter,
                              frame.has_name ? frame.name : std::string_view("[unknown]"))}];
    share.percent += summarize::PercentOf(function.self, amounts.whole());
    share.period += function.self.weight;
  }
  return shares;
}

std::string DiffTable(std::span<const SymbolShares> files, std::span<const std::string> names,
                      DiffColumn column, bool is_quiet) {
  const std::vector<DiffRow> rows = RowsOf(files, column);
  const std::vector<Column> columns = ColumnsOf(rows, files.size(), column);
  std::string text = is_quiet ? "" : HeaderText(columns, names);
  for (const DiffRow& row : rows) {
    const std::string baseline =
        row.shares[0] ? fmt::format("{:.2f}%", row.shares[0]->percent) : "";
    std::string line = fmt::format("  {:>{}}", baseline, columns[0].width);
    for (std::size_t i = 1; i < files.size(); ++i) {
      line += fmt::format("  {:>{}}", ValueText(ValueOf(row, i, column), column), columns[i].width);
    }
    text += fmt::format("{}  {:{}}  {}\n", line, cli::EscapeForTerminal(row.key->dso),
                        columns[files.size()].width, cli::EscapeForTerminal(row.key->symbol));
  }
  return text;
}

}  // namespace perftape::perf_tool
