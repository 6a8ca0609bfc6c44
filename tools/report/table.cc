// SPDX-License-Identifier: Apache-2.0
#include "tools/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "formats/base/utf8.h"
#include "tools/common/cli/escape.h"

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

std::string QuantityText(const Quantity& quantity) {
  if (quantity.unit == "nanoseconds") return TimeText(quantity.value);
  const bool is_whole = quantity.value == std::floor(quantity.value);
  return is_whole ? fmt::format("{:.0f}", quantity.value) : fmt::format("{}", quantity.value);
}

// Returns the number of code points. Bytes that are not UTF-8 are escaped before.
std::size_t WidthOf(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
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

// The cells of a table as escaped text, and how wide each column is.
class TextTable {
 public:
  explicit TextTable(const Table& table) : table_(table) {
    for (const Column& column : table.columns) widths_.push_back(WidthOf(column.title));
    for (const std::vector<Cell>& row : table.rows) {
      std::vector<std::string>& texts = texts_.emplace_back();
      for (std::size_t i = 0; i < row.size(); ++i) {
        texts.push_back(cli::EscapeForTerminal(CellText(row[i])));
        widths_[i] = std::max(widths_[i], WidthOf(texts.back()));
      }
    }
  }

  void AppendTo(std::string& out, const TextStyle& style) const {
    std::vector<std::string> titles;
    for (const Column& column : table_.columns) titles.push_back(column.title);
    out += Line(titles, style) + "\n";
    for (std::size_t row = 0; row < texts_.size(); ++row) {
      const std::string line = Line(texts_[row], style);
      const std::string_view colour = ColourOf(table_.rows[row].front());
      const bool is_coloured = style.has_colours && !colour.empty();
      const std::size_t end = is_coloured ? widths_.front() + 2 : 0;  // of the first cell
      if (is_coloured) out.append(colour).append(line, 0, end).append(kNormal);
      out.append(line, std::min(end, line.size())).append("\n");
    }
  }

 private:
  std::string Line(const std::vector<std::string>& texts, const TextStyle& style) const {
    std::string line = "  ";
    for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
      line += Padded(texts[i], widths_[i], table_.columns[i].align) + "  ";
    }
    line += texts.back();  // the names: not padded
    return style.width == 0 ? line : CutTo(std::move(line), style.width);
  }

  const Table& table_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> texts_;
};

std::string Styled(std::string_view text, std::string_view colour, const TextStyle& style) {
  if (!style.has_colours) return std::string(text);
  return fmt::format("{}{}{}", colour, text, kNormal);
}

std::string MarkdownCell(const Cell& cell) {
  std::string text;
  for (const char letter : cli::EscapeForTerminal(CellText(cell))) {
    // What Markdown or HTML would interpret.
    if (std::string_view("\\`*_[]<>|&#~$").contains(letter)) text += '\\';
    text += letter;
  }
  return text;
}

std::string CsvCell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char letter : text) quoted.append(letter == '"' ? 2 : 1, letter);
  return quoted + "\"";
}

template <class Cells, class Text>
std::string CsvLine(const Cells& cells, Text text) {
  std::string line;
  for (const auto& cell : cells) {
    if (&cell != &cells.front()) line += ',';
    line += CsvCell(text(cell));
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
  if (const auto* name = std::get_if<std::string>(&cell)) {
    const std::string escaped = cli::EscapeForTerminal(*name);
    // A spreadsheet would compute a text that begins with one of these.
    const bool is_formula = !escaped.empty() && std::string_view("=+-@").contains(escaped.front());
    return is_formula ? "'" + escaped : escaped;
  }
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
      constexpr std::string_view kLabel = "  warning:";
      const std::string line = Wrapped(
          fmt::format("{} {}", kLabel, cli::EscapeForTerminal(warning)), style.width, "    ");
      text += Styled(kLabel, kYellow, style) + line.substr(kLabel.size()) + "\n";
    }
    for (const Table& table : section.tables) {
      text += "\n" + Styled(table.title, kBold, style) + "\n";
      TextTable(table).AppendTo(text, style);
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
