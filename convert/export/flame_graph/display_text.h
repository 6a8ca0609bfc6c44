// SPDX-License-Identifier: Apache-2.0
// Names of functions, files, processes and events as a browser may show them, wherever they are
// from.
#pragma once

#include <string>
#include <string_view>

namespace perftape::flame_graph {

// Returns valid UTF-8 without the characters of IsUnsafe (formats/base/unsafe_text.h) and without
// noncharacters: U+FFFD replaces each of them, and each byte that is not UTF-8.
std::string DisplayText(std::string_view text);

// Appends the text with &, <, > and quotes as XML and HTML references, after DisplayText.
void AppendMarkup(std::string& out, std::string_view text);

}  // namespace perftape::flame_graph
