// SPDX-License-Identifier: Apache-2.0
// The characters that no output may hold raw when they come from names of files, processes,
// functions or hosts: they move a cursor, change the state of a terminal, break a line or reverse
// the direction of writing. Each output has its own escapes; the set of characters is defined here.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace perftape {
inline namespace base {

// The controls of ASCII (the tab and DEL among them) and of ISO 6429 (C1: U+0080 to U+009F), the
// line and paragraph separators, and the marks, embeddings, overrides and isolates of bidirectional
// text.
bool IsUnsafe(char32_t value);

struct UnsafeCharacter {
  std::size_t at = 0;    // where it begins
  std::size_t size = 0;  // bytes
  char32_t value = 0;    // the code point, or the byte where it is no UTF-8
  bool is_utf8 = true;
};

// The first unsafe character of `text` from `from` on, or the first byte there that is no UTF-8. Of
// these a terminal of 8 bits takes 0x80 to 0x9f for C1.
std::optional<UnsafeCharacter> FindUnsafe(std::string_view text, std::size_t from = 0);

// The text of a JSON value, which is UTF-8, with its unsafe characters as \u202e; its line ends and
// other controls of ASCII are the layout's, and stay.
std::string EscapedJson(std::string json);

}  // namespace base
}  // namespace perftape
