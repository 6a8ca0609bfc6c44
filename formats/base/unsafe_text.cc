// SPDX-License-Identifier: Apache-2.0
#include "formats/base/unsafe_text.h"

#include "formats/base/utf8.h"

namespace perftape {
inline namespace base {
namespace {

// The fast path: most text consists of these characters.
bool IsPlain(char c) {
  return c >= 0x20 && c < 0x7f;
}

}  // namespace

bool IsUnsafe(char32_t value) {
  const bool is_control = value < 0x20 || (value >= 0x7f && value < 0xa0);
  const bool ends_line = value == 0x2028 || value == 0x2029;
  const bool reorders_text = value == 0x061c || value == 0x200e || value == 0x200f ||
                             (value >= 0x202a && value <= 0x202e) ||
                             (value >= 0x2066 && value <= 0x2069);
  return is_control || ends_line || reorders_text;
}

std::optional<UnsafeCharacter> FindUnsafe(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at < text.size();) {
    if (IsPlain(text[at])) {
      ++at;
      continue;
    }
    const CodePoint point = FirstCodePoint(text.substr(at));
    if (point.size == 0) {
      return UnsafeCharacter{
          .at = at, .size = 1, .value = static_cast<unsigned char>(text[at]), .is_utf8 = false};
    }
    if (IsUnsafe(point.value)) {
      return UnsafeCharacter{.at = at, .size = point.size, .value = point.value};
    }
    at += point.size;
  }
  return std::nullopt;
}

}  // namespace base
}  // namespace perftape
