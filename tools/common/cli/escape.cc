// SPDX-License-Identifier: Apache-2.0
#include "tools/common/cli/escape.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace perftape::cli {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t size = 0;  // bytes; 0 where they are no UTF-8
};

// The code point at the start of `text`, which is not empty: no overlong forms, no surrogates,
// nothing above U+10FFFF.
CodePoint FirstCodePoint(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  if (byte(0) < 0x80) return {byte(0), 1};
  std::size_t size = 0;
  if ((byte(0) & 0xe0) == 0xc0) size = 2;
  if ((byte(0) & 0xf0) == 0xe0) size = 3;
  if ((byte(0) & 0xf8) == 0xf0) size = 4;
  if (size == 0 || text.size() < size) return {};
  char32_t value = byte(0) & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fU);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = value >= 0xd800 && value < 0xe000;
  if (value < kSmallest[size] || value > 0x10ffff || is_surrogate) return {};
  return {value, size};
}

bool IsHarmless(char32_t value) {
  const bool is_control = value < 0x20 || (value >= 0x7f && value < 0xa0);
  const bool ends_line = value == 0x2028 || value == 0x2029;
  const bool turns_text = value == 0x061c || value == 0x200e || value == 0x200f ||
                          (value >= 0x202a && value <= 0x202e) ||
                          (value >= 0x2066 && value <= 0x2069);
  return !is_control && !ends_line && !turns_text;
}

}  // namespace

std::string EscapeForTerminal(std::string_view text) {
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (std::ranges::all_of(text, is_plain)) return std::string(text);

  std::string escaped;
  while (!text.empty()) {
    const CodePoint at = FirstCodePoint(text);
    const std::size_t size = std::max<std::size_t>(at.size, 1);
    if (at.size != 0 && IsHarmless(at.value)) {
      escaped += text.substr(0, size);
    } else if (text[0] == '\n') {
      escaped += "\\n";
    } else if (text[0] == '\t') {
      escaped += "\\t";
    } else if (text[0] == '\r') {
      escaped += "\\r";
    } else if (at.value > 0xff) {
      fmt::format_to(std::back_inserter(escaped), "\\u{:04x}", static_cast<unsigned>(at.value));
    } else {
      for (const char byte : text.substr(0, size)) {
        fmt::format_to(std::back_inserter(escaped), "\\x{:02x}", static_cast<std::uint8_t>(byte));
      }
    }
    text.remove_prefix(size);
  }
  return escaped;
}

}  // namespace perftape::cli
