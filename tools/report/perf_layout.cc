// SPDX-License-Identifier: Apache-2.0
#include "tools/report/perf_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "tools/common/cli/escape.h"
#include "tools/report/perf_chains.h"

namespace perftape::report_tool {
namespace {

using histogram::Amounts;
using histogram::Entry;
using histogram::Key;

constexpr std::size_t kHierarchyIndent = 3;

// Keys whose text perf fills up with blanks even in the last column.
constexpr std::string_view kPadded[] = {"comm", "dso", "pid", "parent", "local_weight"};

class PerfText {
 public:
  PerfText(const histogram::Histogram& histogram, const histogram::Settings& settings,
           const histogram::NameTable& names, const PerfLayout& layout);

  std::string Text();

 private:
  struct Column {
    const Key* key = nullptr;
    std::string heading;
    std::size_t width = 0;
    bool is_padded = false;
  };

  void MeasureWidths(const std::vector<std::unique_ptr<Entry>>& entries);
  double ShareOf(std::uint64_t period) const;
  bool IsShown(const Entry& entry) const;
  std::string CellOf(const Column& column, const Entry& entry) const;
  void AppendCell(const Column& column, const Entry& entry, bool is_last);
  void AppendHeadings();
  void AppendEntry(Entry& entry);
  void AppendHierarchyHeadings();
  void AppendHierarchy(const std::vector<std::unique_ptr<Entry>>& entries, std::size_t depth);

  const histogram::Histogram& histogram_;
  const histogram::Settings& settings_;
  const histogram::NameTable& names_;
  const PerfLayout& layout_;
  const std::uint64_t total_;
  std::vector<Column> numbers_, texts_;  // with a hierarchy
  std::vector<Column> columns_;          // of all kinds, in their order
  std::string text_;
};

PerfText::PerfText(const histogram::Histogram& histogram, const histogram::Settings& settings,
                   const histogram::NameTable& names, const PerfLayout& layout)
    : histogram_(histogram),
      settings_(settings),
      names_(names),
      layout_(layout),
      total_(layout.is_relative ? histogram.period() : histogram.all_periods()) {
  for (const Key* key : settings.columns) {
    if (std::ranges::count(layout.elided, key->word) != 0) continue;
    Column column{.key = key, .heading = std::string(key->heading), .width = key->width};
    if (layout.style.nanoseconds && key->width_of_nanoseconds != 0) {
      column.width = key->width_of_nanoseconds;
    }
    if (layout.calls_overhead_self && key->word == "overhead") column.heading = "Self";
    column.width = std::max(column.width, column.heading.size());
    column.is_padded = std::ranges::count(kPadded, key->word) != 0;
    columns_.push_back(std::move(column));
  }
  MeasureWidths(histogram.entries());
  for (std::size_t i = 0; i < std::min(columns_.size(), layout.widths.size()); ++i) {
    if (layout.widths[i] != 0) columns_[i].width = layout.widths[i];
  }
  for (const Column& column : columns_) {
    (column.key->is_number() ? numbers_ : texts_).push_back(column);
  }
}

// perf makes the column of binaries wide enough for an address if one has no function.
void PerfText::MeasureWidths(const std::vector<std::unique_ptr<Entry>>& entries) {
  constexpr std::size_t kAddressDigits = 16;
  for (const auto& entry : entries) {
    for (Column& column : columns_) {
      if (column.key->is_number() || column.key->width != 0) continue;
      const std::size_t size = column.key->text(entry->hit, names_, layout_.style).size();
      column.width = std::max(column.width, size);
      const bool is_unresolved =
          entry->hit.leaf.symbol == 0 && layout_.separator.empty() && column.key->word == "dso";
      if (is_unresolved) column.width = std::max(column.width, kAddressDigits);
    }
    MeasureWidths(entry->children);
  }
}

double PerfText::ShareOf(std::uint64_t period) const {
  return total_ == 0 ? 0 : 100.0 * static_cast<double>(period) / static_cast<double>(total_);
}

bool PerfText::IsShown(const Entry& entry) const {
  const Amounts& amounts = settings_.adds_callees ? entry.total : entry.self;
  return static_cast<float>(ShareOf(amounts.period)) >= static_cast<float>(layout_.percent_limit);
}

std::string PerfText::CellOf(const Column& column, const Entry& entry) const {
  const Key& key = *column.key;
  if (!key.is_number()) {
    std::string text = cli::EscapeForTerminal(key.text(entry.hit, names_, layout_.style));
    if (layout_.separator.size() == 1) {
      std::ranges::replace(text, layout_.separator.front(), '.');
    }
    return text;
  }
  const std::uint64_t amount = key.amount(key.of_total ? entry.total : entry.self);
  const bool is_aligned = layout_.separator.empty();
  if (key.column == Key::Column::kShare) {
    return fmt::format(" {:{}.2f}%", ShareOf(amount), is_aligned ? column.width - 2 : 1);
  }
  return fmt::format(" {:{}}", amount, is_aligned ? column.width - 1 : 1);
}

void PerfText::AppendCell(const Column& column, const Entry& entry, bool is_last) {
  std::string cell = CellOf(column, entry);
  const bool is_cut = !column.key->is_number() && !layout_.widths.empty();
  if (is_cut && cell.size() > column.width) cell.resize(column.width);
  if ((!is_last || column.is_padded) && cell.size() < column.width) cell.resize(column.width, ' ');
  text_ += cell;
}

void PerfText::AppendHeadings() {
  const std::string separator = layout_.separator.empty() ? "  " : layout_.separator;
  text_ += "# ";
  bool is_first = true;
  for (const Column& column : columns_) {
    if (!std::exchange(is_first, false)) text_ += separator;
    const std::string_view heading = std::string_view(column.heading).substr(0, column.width);
    text_ += column.key->is_number() ? fmt::format("{:>{}}", heading, column.width)
                                     : fmt::format("{:<{}}", heading, column.width);
  }
  text_ += '\n';
  if (!layout_.separator.empty()) return;
  text_ += "# ";
  is_first = true;
  for (const Column& column : columns_) {
    if (!std::exchange(is_first, false)) text_ += "  ";
    text_.append(column.width, '.');
  }
  text_ += "\n#\n";
}

void PerfText::AppendEntry(Entry& entry) {
  bool is_first = true;
  for (const Column& column : columns_) {
    if (layout_.separator.empty()) {
      text_ += "  ";
    } else if (!is_first) {
      text_ += layout_.separator;
    }
    is_first = false;
    AppendCell(column, entry, &column == &columns_.back());
  }
  text_ += '\n';
  AppendChains(entry, total_, settings_, names_, layout_, text_);
}

void PerfText::AppendHierarchyHeadings() {
  const bool is_aligned = layout_.separator.empty();
  const std::string separator = is_aligned ? "  " : layout_.separator;
  const std::size_t indent =
      is_aligned && texts_.size() > 1 ? (texts_.size() - 1) * kHierarchyIndent : 0;
  std::string heading;
  std::size_t dots = 0;
  for (std::size_t i = 0; i < texts_.size(); ++i) {
    const std::string& word = texts_[i].heading;
    const std::size_t begin = std::min(word.find_first_not_of(' '), word.size());
    if (i != 0) heading += " / ";
    heading += word.substr(begin, word.find_last_not_of(' ') + 1 - begin);
    dots = std::max(dots, i * kHierarchyIndent + texts_[i].width);
  }
  dots = std::max(dots, heading.size());
  text_.append("# ").append(indent, ' ');
  for (const Column& column : numbers_) {
    text_ += fmt::format("{:>{}}{}", column.heading, column.width, separator);
  }
  text_.append(heading).append("\n# ").append(indent, '.');
  bool is_first = true;
  for (const Column& column : numbers_) {
    if (!std::exchange(is_first, false)) text_ += is_aligned ? ".." : layout_.separator;
    text_.append(column.width, '.');
  }
  text_.append(separator).append(dots, '.').append("\n#\n");
}

void PerfText::AppendHierarchy(const std::vector<std::unique_ptr<Entry>>& entries,
                               std::size_t depth) {
  const bool is_aligned = layout_.separator.empty();
  const std::string separator = is_aligned ? "  " : layout_.separator;
  for (const auto& entry : entries) {
    if (!IsShown(*entry)) continue;
    text_.append(depth * kHierarchyIndent, ' ');
    bool is_first = true;
    for (const Column& column : numbers_) {
      if (is_aligned || !is_first) text_ += separator;
      is_first = false;
      AppendCell(column, *entry, &column == &numbers_.back());
    }
    if (is_aligned && texts_.size() > 1) text_.append((texts_.size() - 1) * kHierarchyIndent, ' ');
    text_ += separator;
    const std::size_t begin = text_.size();
    AppendCell(texts_[depth], *entry, true);
    text_.erase(begin, std::min(text_.find_first_not_of(' ', begin), text_.size()) - begin);
    text_ += '\n';
    if (entry->children.empty()) {
      AppendChains(*entry, total_, settings_, names_, layout_, text_);
      continue;
    }
    AppendHierarchy(entry->children, depth + 1);
    if (std::ranges::any_of(entry->children, [&](const auto& its) { return IsShown(*its); })) {
      continue;
    }
    std::size_t width = 4;
    for (const Column& column : numbers_) width += column.width + 2;
    if (is_aligned) text_.append((texts_.size() + depth) * kHierarchyIndent, ' ');
    text_ += fmt::format("{:{}}no entry >= {:.2f}%\n", "", width - 2, layout_.percent_limit);
  }
}

std::string PerfText::Text() {
  if (settings_.is_hierarchy && !texts_.empty()) {
    if (layout_.has_header) AppendHierarchyHeadings();
    AppendHierarchy(histogram_.entries(), 0);
    return std::move(text_);
  }
  if (layout_.has_header) AppendHeadings();
  for (const auto& entry : histogram_.entries()) {
    if (IsShown(*entry)) AppendEntry(*entry);
  }
  return std::move(text_);
}

}  // namespace

std::string PerfTable(const histogram::Histogram& histogram, const histogram::Settings& settings,
                      const histogram::NameTable& names, const PerfLayout& layout) {
  return PerfText(histogram, settings, names, layout).Text();
}

}  // namespace perftape::report_tool
