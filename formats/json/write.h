// SPDX-License-Identifier: Apache-2.0
// Writes a JSON document.
#pragma once

#include <cstdint>
#include <string>

#include "formats/json/value.h"

namespace perftape::json {

// The value is the number of spaces before what is one level deeper.
enum class Layout : std::uint8_t { kOneLine = 0, kNarrow = 1, kIndented = 2 };

// Returns the value with a line end. Texts may be any bytes, because names come from files: those
// that are not UTF-8 become U+FFFD, and unsafe characters (formats/base/unsafe_text.h) are escaped,
// so that the text can be printed on a terminal. A number that is not finite becomes null.
std::string Text(const Value& value, Layout layout);

}  // namespace perftape::json
