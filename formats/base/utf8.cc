// SPDX-License-Identifier: Apache-2.0
#include "formats/base/utf8.h"

#include <algorithm>
#include <cstdint>

namespace perftape {
inline namespace base {

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

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = FirstCodePoint(text).size;
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::string ToValidUtf8(std::string_view text) {
  constexpr std::string_view kReplacement = "\xef\xbf\xbd";
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t size = FirstCodePoint(text).size;
    valid += size == 0 ? kReplacement : text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return valid;
}

void AppendUtf8(std::string& out, char32_t value) {
  const auto continued = [&](unsigned shift) {
    return static_cast<char>(0x80 | (value >> shift & 0x3f));
  };
  if (value < 0x80) {
    out.push_back(static_cast<char>(value));
  } else if (value < 0x800) {
    out.push_back(static_cast<char>(0xc0 | value >> 6));
    out.push_back(continued(0));
  } else if (value < 0x1'0000) {
    out.push_back(static_cast<char>(0xe0 | value >> 12));
    out.push_back(continued(6));
    out.push_back(continued(0));
  } else {
    out.push_back(static_cast<char>(0xf0 | value >> 18));
    out.push_back(continued(12));
    out.push_back(continued(6));
    out.push_back(continued(0));
  }
}

}  // namespace base
}  // namespace perftape
