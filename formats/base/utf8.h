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
  std::size_t size = 0;  // in bytes; 0 if the bytes are not UTF-8
};

// Decodes the code point at the start of `text`, which must not be empty.
CodePoint FirstCodePoint(std::string_view text);

bool IsUtf8(std::string_view text);

// Returns valid UTF-8 unchanged. Otherwise replaces each byte that belongs to no character by
// U+FFFD. Formats such as protobuf allow only UTF-8, but file names, comms and symbols may be any
// bytes.
std::string ToValidUtf8(std::string_view text);

// Appends a code point. It must be at most U+10FFFF and not a surrogate.
void AppendUtf8(std::string& out, char32_t value);

}  // namespace base
}  // namespace perftape
