// SPDX-License-Identifier: Apache-2.0
// Names from files and processes, made harmless for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace perftape::cli {

// `text` with its unsafe characters (formats/base/unsafe_text.h) written visibly: controls as \t,
// \n, \r or \x1b, bytes that are no UTF-8 as \xff, the controls of bidirectional text and Unicode's
// line ends as \u202e. All else stays, backslashes too.
std::string EscapeForTerminal(std::string_view text);

}  // namespace perftape::cli
