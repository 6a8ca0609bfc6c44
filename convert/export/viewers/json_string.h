// SPDX-License-Identifier: Apache-2.0
// Strings of JSON files that are written without a document in memory.
#pragma once

#include <string>
#include <string_view>

namespace perftape::viewers {

// Appends the text as a JSON string, with its quotes. The text may contain any bytes: each byte
// that is not UTF-8 becomes U+FFFD. The characters of IsUnsafe (formats/base/unsafe_text.h) are
// escaped as \u202e, so that the file can be printed.
void AppendJsonString(std::string& out, std::string_view text);

}  // namespace perftape::viewers
