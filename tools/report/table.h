// SPDX-License-Identifier: Apache-2.0
// What a report shows, before it is text, Markdown or CSV.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace perftape::report_tool {

struct Percent {
  double value = 0;
};

// A number in a unit: nanoseconds are shown as a time, bytes in a larger unit.
struct Quantity {
  double value = 0;
  std::string_view unit = {};  // "nanoseconds", "bytes", "count"; lives as long as the profile
};

// A difference of two shares in percentage points, or of two quantities in percent.
struct Difference {
  double value = 0;
  std::string_view unit = {};   // "pp" or "%"
  bool is_significant = false;  // beyond what chance explains: it is coloured
};

// Half of the interval around a difference, in its unit.
struct Uncertainty {
  double value = 0;
};

using Cell = std::variant<std::string, std::int64_t, Percent, Quantity, Difference, Uncertainty>;

struct Column {
  std::string title;
  enum class Align : std::uint8_t { kLeft, kRight } align = Align::kRight;
  bool is_optional = false;  // left out before names are cut
};

inline constexpr auto kLeft = Column::Align::kLeft;

struct Table {
  std::string title = {};  // "Functions"
  std::vector<Column> columns = {};
  std::vector<std::vector<Cell>> rows = {};  // each with a cell for each column
  std::string note = {};                     // below the table: "1204 more"; may be empty
};

// A paragraph with a word before it: "critical: the CPU limit …".
struct Remark {
  std::string label = {};  // may be empty
  std::string text = {};
  std::size_t level = 0;  // how far it is indented
  bool is_bad = false;    // its label is red, not yellow
};

// Lines of text, paragraphs, then tables.
struct Section {
  std::string title = {};  // may be empty
  std::vector<std::string> lines = {};
  std::vector<std::string> warnings = {};
  std::vector<Remark> remarks = {};
  std::vector<Table> tables = {};
};

// Returns "12.5 %", "1.234 s", "1234". A string stays as it is.
std::string CellText(const Cell& cell);
// Returns the number without a unit, or a name that neither terminals nor spreadsheets interpret.
std::string RawText(const Cell& cell);

struct TextStyle {
  std::size_t width = 0;  // in columns; 0 for no limit. Names are cut as by ShortNames
  bool has_colours = false;
};

std::string TextOf(const std::vector<Section>& sections, const TextStyle& style);
std::string MarkdownOf(const std::vector<Section>& sections);
// The tables as in RFC 4180, each with a line of titles; an empty line separates two tables.
std::string CsvOf(const std::vector<Section>& sections);

}  // namespace perftape::report_tool
