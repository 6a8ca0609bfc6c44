// SPDX-License-Identifier: Apache-2.0
#include "tools/report/short_name.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "formats/base/utf8.h"

namespace perftape::report_tool {
namespace {

constexpr std::string_view kLeftOut = "…";

// Returns the byte at which the code point `index` begins.
std::size_t OffsetOf(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index) {
    at += std::max<std::size_t>(FirstCodePoint(text.substr(at)).size, 1);
  }
  return std::min(at, text.size());
}

// Returns `text` without what is between `open` and `close`, at the outermost level, if they match.
// Operators such as << and -> are no brackets.
std::string WithoutContents(std::string_view text, char open, char close) {
  constexpr std::string_view kOperator = "operator";
  std::string shorter;
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_operator = shorter.ends_with(kOperator) && depth == 0;
    const bool is_arrow = text[i] == '>' && i > 0 && text[i - 1] == '-';
    if (is_operator && (text[i] == open || text[i] == close)) {
      // operator<, operator<<, operator<=>, operator(), operator->: up to what follows it.
      for (; i < text.size() && std::string_view("<>=-()").contains(text[i]); ++i) {
        shorter += text[i];
        if (shorter.ends_with("<<") || shorter.ends_with("()")) {
          ++i;
          break;
        }
      }
      --i;
      continue;
    }
    if (text[i] == close && !is_arrow) {
      if (depth == 0) return std::string(text);  // no brackets
      if (--depth == 0 && text[i - 1] != open) shorter.append(kLeftOut);
    }
    if (depth == 0) shorter += text[i];
    if (text[i] == open) ++depth;
  }
  return depth == 0 ? shorter : std::string(text);
}

// Leaves out the middle: `head` code points stay at the beginning.
std::string CutMiddle(std::string_view text, std::size_t width, std::size_t head) {
  const std::size_t size = WidthOf(text);
  if (size <= width) return std::string(text);
  if (width <= 1) return std::string(kLeftOut.substr(0, width == 0 ? 0 : kLeftOut.size()));
  head = std::min(head, width - 1);
  const std::size_t tail = width - 1 - head;
  std::string cut(text.substr(0, OffsetOf(text, head)));
  cut += kLeftOut;
  return cut.append(text.substr(OffsetOf(text, size - tail)));
}

// The indentation and arrow of a tree's row.
std::string_view PrefixOf(std::string_view name) {
  const std::size_t start = std::min(name.find_first_not_of(' '), name.size());
  const std::string_view rest = name.substr(start);
  const bool has_arrow = rest.starts_with("-> ") || rest.starts_with("<- ");
  return name.substr(0, start + (has_arrow ? 3 : 0));
}

std::string WithoutArguments(std::string_view name, std::size_t width) {
  std::string shorter = WithoutContents(name, '<', '>');
  if (WidthOf(shorter) > width) shorter = WithoutContents(shorter, '(', ')');
  return shorter;
}

// Makes the names of `indexes`, which look the same, different: by cutting another part, or with a
// number at the end.
void TellApart(const std::vector<std::string>& names, const std::vector<std::size_t>& indexes,
               std::size_t width, std::vector<std::string>& texts) {
  for (const std::size_t head : {width / 3, width / 2, width - width / 4, std::size_t{0}, width}) {
    std::map<std::string, std::string_view> of_texts;
    const bool are_different = std::ranges::all_of(indexes, [&](std::size_t i) {
      const auto [known, is_new] = of_texts.emplace(CutMiddle(names[i], width, head), names[i]);
      return is_new || known->second == names[i];
    });
    if (!are_different) continue;
    for (const std::size_t i : indexes) texts[i] = CutMiddle(names[i], width, head);
    return;
  }
  std::map<std::string_view, std::size_t> numbers;
  for (const std::size_t i : indexes) {
    const std::size_t number = numbers.emplace(names[i], numbers.size() + 1).first->second;
    const std::string end = fmt::format("#{}", number);
    const std::size_t room = width - std::min(width, end.size());
    texts[i] = CutMiddle(texts[i], room, room / 3) + end;
  }
}

}  // namespace

std::size_t WidthOf(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

std::string ShortName(std::string_view name, std::size_t width) {
  if (WidthOf(name) <= width) return std::string(name);
  const std::string_view prefix = PrefixOf(name);
  const std::size_t room = width - std::min(width, prefix.size());
  const std::string shorter = WithoutArguments(name.substr(prefix.size()), room);
  // The end of a name tells more than its namespaces.
  return std::string(prefix) + CutMiddle(shorter, room, room / 3);
}

std::vector<std::string> ShortNames(const std::vector<std::string>& names, std::size_t width) {
  std::vector<std::string> texts;
  std::map<std::string, std::vector<std::size_t>> rows;  // by text
  for (std::size_t i = 0; i < names.size(); ++i) {
    rows[texts.emplace_back(ShortName(names[i], width))].push_back(i);
  }
  for (const auto& [text, indexes] : rows) {
    const bool are_same = std::ranges::all_of(
        indexes, [&](std::size_t i) { return names[i] == names[indexes.front()]; });
    if (!are_same) TellApart(names, indexes, width, texts);
  }
  return texts;
}

}  // namespace perftape::report_tool
