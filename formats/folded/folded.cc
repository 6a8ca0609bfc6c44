// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/folded.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace perftape::folded {
namespace {

// Removes the last count and one space before it from `stack`. Not more, because
// stackcollapse-perf.pl also writes frames that are only a space, even as the last one.
Result<Count> ReadCount(std::string_view& stack) {
  const std::size_t space = stack.find_last_of(" \t");
  if (space == std::string_view::npos) {
    return Fail(ErrorCode::kCorrupt, "no count at the end of the line");
  }
  TRY_ASSIGN(const Count count, ParseCount(stack.substr(space + 1)));
  stack = stack.substr(0, space);
  return count;
}

bool IsComment(std::string_view line) {
  return line == "#" || line.starts_with("# ");
}

}  // namespace

bool ReadLine(std::string_view& text, std::string_view& line) {
  if (text.empty()) return false;
  const std::size_t end = std::min(text.find('\n'), text.size());
  line = text.substr(0, end);
  line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
  if (IsComment(line)) line = {};
  text.remove_prefix(std::min(end + 1, text.size()));
  return true;
}

Result<Line> ParseLine(std::string_view line, Columns columns) {
  Line parsed;
  parsed.stack = line;
  TRY_ASSIGN(parsed.count, ReadCount(parsed.stack));
  if (columns == Columns::kOne) return parsed;
  const Result<Count> before = ReadCount(parsed.stack);
  if (!before) return Fail(ErrorCode::kCorrupt, "one count at the end of the line, not two");
  parsed.before = *before;
  return parsed;
}

std::uint64_t LostStacksIn(std::string_view line) {
  constexpr std::string_view kWarning = "WARNING: ";
  constexpr std::string_view kLost = " stack traces ";
  if (!line.starts_with(kWarning)) return 0;
  line.remove_prefix(kWarning.size());
  std::uint64_t count = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), count);
  const std::string_view rest = line.substr(static_cast<std::size_t>(end - line.data()));
  return error == std::errc() && rest.starts_with(kLost) ? count : 0;
}

}  // namespace perftape::folded
