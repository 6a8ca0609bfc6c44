// SPDX-License-Identifier: Apache-2.0
// Names from files and processes in what tools print.
#pragma once

#include <string>
#include <string_view>

#include "formats/escape/escape.h"

namespace perftape::cli {

// Returns `text` as a terminal may show it. All that tools print is escaped like this.
inline std::string EscapeForTerminal(std::string_view text) {
  return escape::ForTerminal(text);
}

}  // namespace perftape::cli
