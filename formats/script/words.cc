// SPDX-License-Identifier: Apache-2.0
#include "formats/script/words.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

namespace perftape::script {
namespace {

bool IsHexDigit(char c) {
  return IsDigit(c) || ('a' <= c && c <= 'f');
}

std::optional<std::uint64_t> ParseIn(int base, std::string_view text) {
  std::uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [parsed, error] = std::from_chars(text.data(), end, number, base);
  if (error != std::errc() || parsed != end) return {};
  return number;
}

}  // namespace

bool IsNumber(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, IsDigit);
}

bool IsAddress(std::string_view text) {
  constexpr std::size_t kMostDigits = 16;
  return !text.empty() && text.size() <= kMostDigits && std::ranges::all_of(text, IsHexDigit);
}

// These are called for each line. find_first_of and its like call memchr(3) for each character.
std::string_view TrimLeft(std::string_view text) {
  return {std::ranges::find_if_not(text, IsBlank), text.end()};
}

std::string_view TrimRight(std::string_view text) {
  while (!text.empty() && (IsBlank(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::string_view FirstWord(std::string_view text) {
  return {text.begin(), std::ranges::find_if(text, IsBlank)};
}

std::optional<std::uint64_t> ParseNumber(std::string_view text) {
  return ParseIn(10, text);
}

std::optional<std::uint64_t> ParseAddress(std::string_view text) {
  return IsAddress(text) ? ParseIn(16, text) : std::nullopt;
}

std::optional<std::uint64_t> RemoveOffset(std::string_view& text) {
  constexpr std::string_view kMark = "+0x";
  const std::size_t mark = text.rfind(kMark);
  if (mark == std::string_view::npos) return {};
  const auto offset = ParseAddress(text.substr(mark + kMark.size()));
  if (offset) text = text.substr(0, mark);
  return offset;
}

}  // namespace perftape::script
