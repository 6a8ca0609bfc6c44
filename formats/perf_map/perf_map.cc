// SPDX-License-Identifier: Apache-2.0
#include "formats/perf_map/perf_map.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "formats/base/utf8_text.h"

namespace perftape::perf_map {
namespace {

struct Function {
  std::uint64_t start = 0;
  std::string_view name;
};

struct Line {
  std::uint64_t start = 0, size = 0;
  std::string_view name;
};

// Removes a hexadecimal number, with or without 0x, and the following blanks from `text`. Returns
// false without a number or blanks.
bool ReadNumber(std::string_view& text, std::uint64_t& number) {
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
  if (!ReadNumber(text, line.start) || !ReadNumber(text, line.size)) return std::nullopt;
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (text.empty() || line.size > std::numeric_limits<std::uint64_t>::max() - line.start) {
    return std::nullopt;
  }
  line.name = text;
  return line;
}

// Ranges are added in the order of their lines. A later one replaces what it overlaps.
class Layers {
 public:
  void Cover(std::uint64_t start, std::uint64_t end, const Function& function) {
    auto next = ranges_.lower_bound(start);
    if (next != ranges_.begin()) {
      const auto before = std::prev(next);
      const End old = before->second;
      before->second.end = std::min(old.end, start);
      if (old.end > end) ranges_.insert_or_assign(end, old);
    }
    while (next != ranges_.end() && next->first < end) {
      const End old = next->second;
      next = ranges_.erase(next);
      if (old.end > end) {
        ranges_.insert_or_assign(end, old);
        break;
      }
    }
    ranges_.insert_or_assign(start, End{end, function});
  }

  template <class Visit>
  void ForEach(const Visit& visit) const {
    for (const auto& [start, range] : ranges_) visit(start, range.end, range.function);
  }

 private:
  struct End {
    std::uint64_t end = 0;
    Function function;
  };
  std::map<std::uint64_t, End> ranges_;  // sorted by start, without overlap
};

}  // namespace

PerfMap PerfMap::Parse(std::string text) {
  PerfMap map;
  map.text_ = std::make_unique<const std::string>(ToUtf8(std::move(text)));
  std::vector<Range> lines;
  for (std::string_view rest = *map.text_; !rest.empty();) {
    const std::size_t length = std::min(rest.find('\n'), rest.size());
    const std::string_view text_line = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    if (text_line.empty()) continue;
    const std::optional<Line> line = ParseLine(text_line);
    if (line && line->size > 0) {
      lines.push_back({line->start, line->start + line->size, line->name, line->start});
    }
  }
  map.AddDisjoint(std::move(lines));
  return map;
}

// Most lines overlap no other. Each group of overlapping lines is processed separately, in the
// order of the file, which is the order of the names in the text.
void PerfMap::AddDisjoint(std::vector<Range> lines) {
  std::ranges::sort(lines, {}, &Range::start);
  for (std::size_t begin = 0; begin < lines.size();) {
    std::uint64_t reach = lines[begin].end;
    std::size_t end = begin + 1;
    for (; end < lines.size() && lines[end].start < reach; ++end) {
      reach = std::max(reach, lines[end].end);
    }
    const std::span<Range> group(&lines[begin], end - begin);
    begin = end;
    if (group.size() == 1) {
      ranges_.push_back(group.front());
      continue;
    }
    std::ranges::sort(group, {}, [](const Range& range) { return range.name.data(); });
    Layers layers;
    for (const Range& range : group) {
      layers.Cover(range.start, range.end, {range.start, range.name});
    }
    layers.ForEach([&](std::uint64_t first, std::uint64_t last, const Function& function) {
      ranges_.push_back({first, last, function.name, function.start});
    });
  }
  ranges_.shrink_to_fit();
}

PerfMap::Found PerfMap::Find(RuntimeAddress address) const {
  auto range = std::ranges::upper_bound(ranges_, address.value, {}, &Range::start);
  if (range == ranges_.begin()) return {};
  --range;
  if (address.value >= range->end) return {};
  return {.name = range->name, .offset = address.value - range->function_start};
}

}  // namespace perftape::perf_map
