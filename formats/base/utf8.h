// SPDX-License-Identifier: Apache-2.0
// UTF-8 as in RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace perftape {
inline namespace base {

struct CodePoint {
  char32_t value = 0;
  std::size_t size = 0;  // bytes; 0 where they are no UTF-8
};

// The code point at the start of `text`, which is not empty.
CodePoint FirstCodePoint(std::string_view text);

bool IsUtf8(std::string_view text);

// Appends a code point, which is at most U+10FFFF and no surrogate.
void AppendUtf8(std::string& out, char32_t value);

}  // namespace base
}  // namespace perftape
