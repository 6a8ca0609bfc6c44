// SPDX-License-Identifier: Apache-2.0
// The characters that no output may contain unescaped if they come from names of files, processes,
// functions or hosts. They move the cursor, change the state of a terminal, break a line or reverse
// the writing direction. Each output has its own escapes; this file defines the set of characters.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace perftape {
inline namespace base {

// Whether `value` is a control character of ASCII (including tab and DEL) or of ISO 6429 (C1:
// U+0080 to U+009F), a line or paragraph separator, or a mark, embedding, override or isolate of
// bidirectional text.
bool IsUnsafe(char32_t value);

struct UnsafeCharacter {
  std::size_t at = 0;    // offset of its first byte
  std::size_t size = 0;  // in bytes
  char32_t value = 0;    // the code point, or the byte if it is not UTF-8
  bool is_utf8 = true;
};

// The first unsafe character of `text` at or after `from`, or the first byte there that is not
// UTF-8. 8-bit terminals interpret the bytes 0x80 to 0x9f as C1.
std::optional<UnsafeCharacter> FindUnsafe(std::string_view text, std::size_t from = 0);

}  // namespace base
}  // namespace perftape
