// SPDX-License-Identifier: Apache-2.0
#include "formats/folded/folded.h"

#include <charconv>
#include <cstddef>
#include <utility>

namespace perftape::folded {
namespace {

bool IsDigit(char c) {
  return '0' <= c && c <= '9';
}

char Replacement(char c) {
  switch (c) {
    case ';':
      return ':';
    case '\n':
    case '\r':
    case '\0':
      return ' ';
    default:
      return c;
  }
}

// "id 7", but neither "id7" nor "7".
bool EndsInSpaceAndDigits(std::string_view text) {
  const std::size_t last = text.find_last_not_of("0123456789");
  return last != std::string_view::npos && last + 1 < text.size() && text[last] == ' ';
}

std::string_view WithoutTrailing(std::string_view text, std::string_view characters) {
  return text.substr(0, text.find_last_not_of(characters) + 1);
}

std::vector<std::string_view> Split(std::string_view stack) {
  std::vector<std::string_view> frames;
  while (true) {
    const std::size_t end = stack.find(';');
    frames.push_back(stack.substr(0, end));
    if (end == std::string_view::npos) return frames;
    stack.remove_prefix(end + 1);
  }
}

// "42" and "42.", "42.5" as flamegraph.pl takes them; the fraction is cut off.
bool ParseCount(std::string_view text, StackLine& line) {
  const char* end = text.data() + text.size();
  const auto [after, error] = std::from_chars(text.data(), end, line.count);
  if (error != std::errc{}) return false;
  if (after == end) return true;
  if (*after != '.') return false;
  const std::string_view fraction(after + 1, end);
  line.had_fraction = fraction.find_first_not_of('0') != std::string_view::npos;
  return fraction.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

void AppendFrame(std::string& out, std::string_view frame) {
  const std::size_t start = out.size();
  for (const char c : frame) out.push_back(Replacement(c));
  while (out.size() > start && out.back() == ' ') out.pop_back();
  if (out.size() == start) {
    out += "[unknown]";
  } else if (IsDigit(out.back()) && EndsInSpaceAndDigits(std::string_view(out).substr(start))) {
    out.push_back('_');
  }
}

void AppendLine(std::string& out, std::span<const std::string_view> frames, std::uint64_t count) {
  if (frames.empty()) AppendFrame(out, "");
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i != 0) out.push_back(';');
    AppendFrame(out, frames[i]);
  }
  out.push_back(' ');
  out += std::to_string(count);
  out.push_back('\n');
}

Result<StackLine> ParseFoldedLine(std::string_view text) {
  text = WithoutTrailing(text, "\r\n");
  const std::size_t space = text.rfind(' ');
  if (space == std::string_view::npos) {
    return Fail(ErrorCode::kCorrupt, "no count at the end of the line");
  }
  StackLine line;
  if (!ParseCount(text.substr(space + 1), line)) {
    return Fail(ErrorCode::kCorrupt, "what follows the last space is no count");
  }
  const std::string_view stack = WithoutTrailing(text.substr(0, space), " ");
  if (stack.empty()) return Fail(ErrorCode::kCorrupt, "no frame before the count");
  line.frames = Split(stack);
  return line;
}

}  // namespace perftape::folded
