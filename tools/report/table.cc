// SPDX-License-Identifier: Apache-2.0
#include "tools/report/table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <ranges>

#include "formats/base/utf8.h"
#include "formats/escape/escape.h"
#include "tools/common/cli/escape.h"
#include "tools/report/short_name.h"

namespace perftape::report_tool {
namespace {

constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kGreen = "\033[32m";
constexpr std::string_view kYellow = "\033[33m";
constexpr std::string_view kNormal = "\033[0m";

std::string TimeText(double ns) {
  const double size = std::abs(ns);
  if (size >= 1e9) return fmt::format("{:.3f} s", ns / 1e9);
  if (size >= 1e6) return fmt::format("{:.3f} ms", ns / 1e6);
  if (size >= 1e3) return fmt::format("{:.3f} us", ns / 1e3);
  return fmt::format("{:.0f} ns", ns);
}

std::string BytesText(double bytes) {
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (std::abs(bytes) < 1024) return fmt::format("{} B", bytes);
  std::size_t unit = 0;
  for (bytes /= 1024; std::abs(bytes) >= 1024 && unit + 1 < std::size(kUnits); ++unit)
    bytes /= 1024;
  return fmt::format("{:.2f} {}", bytes, kUnits[unit]);
}

std::string QuantityText(const Quantity& quantity) {
  if (quantity.unit == "nanoseconds") return TimeText(quantity.value);
  if (quantity.unit == "bytes") return BytesText(quantity.value);
  const bool is_whole = quantity.value == std::floor(quantity.value);
  return is_whole ? fmt::format("{:.0f}", quantity.value) : fmt::format("{}", quantity.value);
}

// Cuts a text to `width` columns. The end is replaced by "...".
std::string CutTo(std::string text, std::size_t width) {
  constexpr std::string_view kMark = "...";
  if (WidthOf(text) <= width) return text;
  std::size_t end = 0;
  for (std::size_t kept = 0; kept + kMark.size() < width; ++kept) {
    end += std::max<std::size_t>(FirstCodePoint(std::string_view(text).substr(end)).size, 1);
  }
  text.resize(end);
  return text.append(kMark);
}

// Breaks a text at spaces into lines of at most `width` columns; longer words are not broken. Each
// line after the first begins with `indent`.
std::string Wrapped(std::string_view text, std::size_t width, std::string_view indent) {
  std::string lines;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' ', 1), text.size());  // a word, with its space
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end);
    if (column != 0 && width != 0 && column + WidthOf(word) > width) {
      lines.append("\n").append(indent).append(word.substr(1));
      column = indent.size() + WidthOf(word) - 1;
    } else {
      lines += word;
      column += WidthOf(word);
    }
  }
  return lines;
}

std::string Padded(const std::string& text, std::size_t width, Column::Align align) {
  const std::string space(width - std::min(width, WidthOf(text)), ' ');
  return align == Column::Align::kLeft ? text + space : space + text;
}

// The colours of perf report (ui/browsers/hists.c, get_percent_color): red from 5 percent, green
// from half a percent.
std::string_view ColourOf(const Cell& cell) {
  if (const auto* difference = std::get_if<Difference>(&cell)) {
    if (!difference->is_significant) return "";
    return difference->value > 0 ? kRed : kGreen;
  }
  const auto* percent = std::get_if<Percent>(&cell);
  if (percent == nullptr) return "";
  const double size = std::abs(percent->value);
  if (size >= 5) return kRed;
  return size >= 0.5 ? kGreen : "";
}

// The cells of a table as escaped text, cut so that the lines fit into a width.
class TextTable {
 public:
  TextTable(const Table& table, const TextStyle& style) : table_(table), style_(style) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      Shown& column = columns_.emplace_back();
      column.index = i;
      for (const std::vector<Cell>& row : table.rows) {
        column.texts.push_back(cli::EscapeForTerminal(CellText(row[i])));
      }
      column.Measure(table.columns[i]);
    }
    if (style.width != 0) FitInto(style.width);
  }

  void AppendTo(std::string& out) const {
    out += Line([this](const Shown& column) { return table_.columns[column.index].title; }) + "\n";
    for (std::size_t row = 0; row < table_.rows.size(); ++row) {
      const std::string line = Line([row](const Shown& column) { return column.texts[row]; });
      const std::string_view colour = ColourOf(table_.rows[row].front());
      const bool is_coloured = style_.has_colours && !colour.empty();
      const std::size_t end = is_coloured ? columns_.front().width + 2 : 0;  // of the first cell
      if (is_coloured) out.append(colour).append(line, 0, end).append(kNormal);
      out.append(line, std::min(end, line.size())).append("\n");
    }
  }

 private:
  struct Shown {
    std::size_t index = 0;  // in the table's columns
    std::vector<std::string> texts;
    std::size_t width = 0;

    void Measure(const Column& column) {
      width = WidthOf(column.title);
      for (const std::string& text : texts) width = std::max(width, WidthOf(text));
    }
    bool IsEmpty() const {
      return std::ranges::all_of(texts, [](const std::string& text) { return text.empty(); });
    }
  };

  // Returns the columns of a line before the last text.
  std::size_t WidthBeforeNames() const {
    std::size_t width = 0;
    for (const Shown& column : columns_) width += column.width + 2;
    return width - columns_.back().width;
  }

  // The names need room: columns that say little are left out before names are cut.
  void FitInto(std::size_t width) {
    constexpr std::size_t kShortBinary = 16;
    constexpr std::size_t kLeastRoom = 8;
    const auto fits = [&] { return WidthBeforeNames() + columns_.back().width <= width; };
    for (std::size_t i = 1; i + 1 < columns_.size() && !fits();) {
      const Column& column = table_.columns[columns_[i].index];
      const bool is_needless =
          column.is_optional || (column.align == kLeft && columns_[i].IsEmpty());
      if (is_needless) {
        columns_.erase(columns_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    for (std::size_t i = 0; i + 1 < columns_.size() && !fits(); ++i) {
      if (table_.columns[columns_[i].index].align == kLeft) Cut(columns_[i], kShortBinary);
    }
    if (fits()) return;
    Cut(columns_.back(), std::max(width - std::min(width, WidthBeforeNames()), kLeastRoom));
  }

  void Cut(Shown& column, std::size_t width) const {
    column.texts = ShortNames(column.texts, width);
    column.Measure(table_.columns[column.index]);
  }

  template <class TextIn>
  std::string Line(TextIn text_in) const {
    std::string line = "  ";
    for (const Shown& column : columns_ | std::views::take(columns_.size() - 1)) {
      line += Padded(text_in(column), column.width, table_.columns[column.index].align) + "  ";
    }
    return line += text_in(columns_.back());  // the names: not padded
  }

  const Table& table_;
  const TextStyle& style_;
  std::vector<Shown> columns_;
};

std::string Styled(std::string_view text, std::string_view colour, const TextStyle& style) {
  if (!style.has_colours) return std::string(text);
  return fmt::format("{}{}{}", colour, text, kNormal);
}

void AppendRemark(const Remark& remark, const TextStyle& style, std::string& text) {
  const std::string indent(2 + 2 * remark.level, ' ');
  const std::string label = indent + (remark.label.empty() ? "" : remark.label + ":");
  const std::string separator = remark.label.empty() ? "" : " ";
  const std::string line =
      Wrapped(label + separator + cli::EscapeForTerminal(remark.text), style.width, indent + "  ");
  const std::string_view colour = remark.is_bad ? kRed : kYellow;
  text += (remark.label.empty() ? label : Styled(label, colour, style)) +
          line.substr(label.size()) + "\n";
}

std::string MarkdownCell(const Cell& cell) {
  return escape::MarkdownText(CellText(cell));
}

template <class Cells, class Text>
std::string CsvLine(const Cells& cells, Text text) {
  std::string line;
  for (const auto& cell : cells) {
    if (&cell != &cells.front()) line += ',';
    line += escape::CsvCell(text(cell));
  }
  return line + "\n";
}

}  // namespace

std::string CellText(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* number = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *number);
  if (const auto* percent = std::get_if<Percent>(&cell)) {
    return fmt::format("{:.2f} %", percent->value);
  }
  if (const auto* difference = std::get_if<Difference>(&cell)) {
    return fmt::format("{:+.2f} {}", difference->value, difference->unit);
  }
  if (const auto* uncertainty = std::get_if<Uncertainty>(&cell)) {
    return fmt::format("{:.2f}", uncertainty->value);
  }
  return QuantityText(std::get<Quantity>(cell));
}

std::string RawText(const Cell& cell) {
  if (const auto* name = std::get_if<std::string>(&cell)) return escape::CsvText(*name);
  if (const auto* percent = std::get_if<Percent>(&cell))
    return fmt::format("{:.4f}", percent->value);
  if (const auto* quantity = std::get_if<Quantity>(&cell))
    return fmt::format("{}", quantity->value);
  if (const auto* difference = std::get_if<Difference>(&cell)) {
    return fmt::format("{:.4f}", difference->value);
  }
  if (const auto* uncertainty = std::get_if<Uncertainty>(&cell)) {
    return fmt::format("{:.4f}", uncertainty->value);
  }
  return CellText(cell);
}

std::string TextOf(const std::vector<Section>& sections, const TextStyle& style) {
  std::string text;
  for (const Section& section : sections) {
    if (!text.empty()) text += "\n";
    if (!section.title.empty()) {
      text += Styled(cli::EscapeForTerminal(section.title), kBold, style) + "\n";
    }
    for (const std::string& line : section.lines) {
      std::string shown = "  " + cli::EscapeForTerminal(line);
      text += (style.width == 0 ? shown : CutTo(std::move(shown), style.width)) + "\n";
    }
    for (const std::string& warning : section.warnings) {
      AppendRemark({.label = "warning", .text = warning}, style, text);
    }
    for (const Remark& remark : section.remarks) AppendRemark(remark, style, text);
    for (const Table& table : section.tables) {
      text += "\n" + Styled(table.title, kBold, style) + "\n";
      TextTable(table, style).AppendTo(text);
      if (!table.note.empty()) text += "  " + table.note + "\n";
    }
  }
  return text;
}

std::string MarkdownOf(const std::vector<Section>& sections) {
  std::string text;
  for (const Section& section : sections) {
    if (!text.empty()) text += "\n";
    if (!section.title.empty()) text += fmt::format("## {}\n\n", MarkdownCell(section.title));
    for (const std::string& line : section.lines) text += fmt::format("* {}\n", MarkdownCell(line));
    for (const std::string& warning : section.warnings) {
      text += fmt::format("* **warning:** {}\n", MarkdownCell(warning));
    }
    for (const Remark& remark : section.remarks) {
      text += std::string(2 * remark.level, ' ') + "* ";
      if (!remark.label.empty()) text += fmt::format("**{}:** ", MarkdownCell(remark.label));
      text += MarkdownCell(remark.text) + "\n";
    }
    for (const Table& table : section.tables) {
      text += fmt::format("\n### {}\n\n|", MarkdownCell(table.title));
      for (const Column& column : table.columns) text += fmt::format(" {} |", column.title);
      text += "\n|";
      for (const Column& column : table.columns) {
        text += column.align == Column::Align::kRight ? "---:|" : "---|";
      }
      text += "\n";
      for (const std::vector<Cell>& row : table.rows) {
        text += "|";
        for (const Cell& cell : row) text += fmt::format(" {} |", MarkdownCell(cell));
        text += "\n";
      }
      if (!table.note.empty()) text += fmt::format("\n{}\n", MarkdownCell(table.note));
    }
  }
  return text;
}

std::string CsvOf(const std::vector<Section>& sections) {
  std::string text;
  for (const Section& section : sections) {
    for (const Table& table : section.tables) {
      if (!text.empty()) text += "\n";
      text += CsvLine(table.columns, [](const Column& column) { return column.title; });
      for (const std::vector<Cell>& row : table.rows) text += CsvLine(row, &RawText);
    }
  }
  return text;
}

}  // namespace perftape::report_tool
