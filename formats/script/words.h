// SPDX-License-Identifier: Apache-2.0
// The words of a line of perf script, separated by blanks. simpleperf separates them by tabs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace perftape::script {

constexpr bool IsBlank(char c) {
  return c == ' ' || c == '\t';
}
constexpr bool IsDigit(char c) {
  return '0' <= c && c <= '9';
}

// Whether the text is one digit or more, and nothing else.
bool IsNumber(std::string_view text);
// The same for hexadecimal digits in lower case, at most 16, as perf prints addresses.
bool IsAddress(std::string_view text);

std::string_view TrimLeft(std::string_view text);
std::string_view TrimRight(std::string_view text);
// The text up to the first blank.
std::string_view FirstWord(std::string_view text);

// Nothing if the text is not a number, or is too large.
std::optional<std::uint64_t> ParseNumber(std::string_view text);
std::optional<std::uint64_t> ParseAddress(std::string_view text);

// Removes "+0x1f" from the end of `text`, and returns the number; nothing if the text does not end
// so.
std::optional<std::uint64_t> RemoveOffset(std::string_view& text);

}  // namespace perftape::script
