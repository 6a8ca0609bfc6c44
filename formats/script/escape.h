// SPDX-License-Identifier: Apache-2.0
// Reversible escaping of names in the text that perftape writes. perf script has no escapes: it
// prints names as they are. So names are unescaped only in a text whose header has the mark of
// perftape (header.h).
//
// An escape is '%' and two upper-case hexadecimal digits for each byte of a character:
//
//   characters that no output may contain (formats/base/unsafe_text.h)
//   the characters that the field of the line cannot contain: blanks and parentheses of a dso
//   '%' if an escape would follow: "%0A" becomes "%250A"
//
// An empty name is "%".
#pragma once

#include <string>
#include <string_view>

namespace perftape::script {

// Appends `name`. Also escapes the characters in `others`, which are of ASCII.
void AppendEscaped(std::string& out, std::string_view name, std::string_view others);

// Returns the name that was escaped. Any other text is unchanged.
std::string Unescaped(std::string_view text);

}  // namespace perftape::script
