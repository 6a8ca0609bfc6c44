// SPDX-License-Identifier: Apache-2.0
#include "formats/perf_map/perf_map.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

namespace perftape {
namespace {

struct Line {
  std::uint64_t start = 0, size = 0;
  std::string_view name;
};

// Takes a hexadecimal number, with or without 0x, and the blanks behind it from `text`.
bool TakeNumber(std::string_view& text, std::uint64_t& number) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  const std::size_t blanks = std::min(text.find_first_not_of(" \t"), text.size());
  text.remove_prefix(blanks);
  return blanks != 0;
}

std::optional<Line> ParseLine(std::string_view text) {
  Line line;
  if (!TakeNumber(text, line.start) || !TakeNumber(text, line.size)) return std::nullopt;
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty() || line.size > std::numeric_limits<std::uint64_t>::max() - line.start) {
    return std::nullopt;
  }
  line.name = text;
  return line;
}

}  // namespace

PerfMap PerfMap::Parse(std::string text) {
  PerfMap map;
  map.text_ = std::make_unique<const std::string>(std::move(text));
  for (std::string_view rest = *map.text_; !rest.empty();) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    const std::string_view text_line = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (text_line.empty()) continue;
    if (const std::optional<Line> line = ParseLine(text_line)) {
      map.Cover(line->start, line->start + line->size, line->name);
    } else {
      ++map.damaged_lines_;
    }
  }
  return map;
}

// Cuts what lies in [start, end) out of the ranges that are there, and puts the new one in its
// place.
void PerfMap::Cover(std::uint64_t start, std::uint64_t end, std::string_view name) {
  if (start == end) return;
  auto next = ranges_.lower_bound(start);
  if (next != ranges_.begin()) {
    const auto before = std::prev(next);
    const Range old = before->second;
    before->second.end = std::min(old.end, start);
    if (old.end > end) ranges_.insert_or_assign(end, old);
  }
  while (next != ranges_.end() && next->first < end) {
    const Range old = next->second;
    next = ranges_.erase(next);
    if (old.end > end) {
      ranges_.insert_or_assign(end, old);
      break;
    }
  }
  ranges_.insert_or_assign(start, Range{end, name});
}

std::string_view PerfMap::Find(RuntimeAddress address) const {
  auto range = ranges_.upper_bound(address.value);
  if (range == ranges_.begin()) return {};
  --range;
  return address.value < range->second.end ? range->second.name : std::string_view();
}

}  // namespace perftape
