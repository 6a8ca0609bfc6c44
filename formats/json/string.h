// SPDX-License-Identifier: Apache-2.0
// Texts as JSON strings, for outputs that are written piece by piece.
#pragma once

#include <string>
#include <string_view>

namespace perftape::json {

// Appends the text as a JSON string, with its quotes. The text may contain any bytes: each byte
// that is not UTF-8 becomes U+FFFD. The characters of IsUnsafe (formats/base/unsafe_text.h) are
// escaped as \u202e, so that the file can be printed.
void AppendString(std::string& out, std::string_view text);

}  // namespace perftape::json
