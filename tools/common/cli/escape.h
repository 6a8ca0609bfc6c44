// SPDX-License-Identifier: Apache-2.0
// Names from files and processes, escaped for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace perftape::cli {

// Returns `text` with its unsafe characters (formats/base/unsafe_text.h) made visible. Control
// characters become \t, \n, \r or \x1b, and bytes that are not UTF-8 \xff. Bidirectional controls
// and Unicode's line ends become \u202e and the like. All other characters stay, including
// backslashes.
std::string EscapeForTerminal(std::string_view text);

}  // namespace perftape::cli
