// SPDX-License-Identifier: Apache-2.0
// Escapes names from files and processes for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace perftape::cli {

// Returns `text` with its unsafe characters (formats/base/unsafe_text.h) made visible: control
// characters as \t, \n, \r or \x1b, bytes that are not UTF-8 as \xff, bidirectional controls and
// Unicode's line ends as \u202e. All other characters stay, including backslashes.
std::string EscapeForTerminal(std::string_view text);

}  // namespace perftape::cli
