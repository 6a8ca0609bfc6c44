// SPDX-License-Identifier: Apache-2.0
// Names from files and processes. perf prints them as they are, and a name can clear the screen.
#pragma once

#include <string>
#include <string_view>

#include "formats/base/unsafe_text.h"
#include "formats/escape/escape.h"

namespace perftape::listing {

// Appends a name, with escapes for what a terminal would interpret: "\\x1b".
inline void AppendSafe(std::string& out, std::string_view name) {
  if (!FindUnsafe(name)) {
    out += name;
  } else {
    out += escape::ForTerminal(name);
  }
}

}  // namespace perftape::listing
