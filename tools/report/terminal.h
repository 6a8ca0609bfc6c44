// SPDX-License-Identifier: Apache-2.0
// The terminal that shows a report.
#pragma once

#include <cstddef>
#include <string_view>

#include "formats/base/result.h"
#include "tools/report/table.h"

namespace perftape::report_tool {

// Returns whether stdout is a terminal.
bool IsTerminal();

// Returns the style for stdout: the width of the terminal, no limit elsewhere; colours on a
// terminal, unless NO_COLOR is set or the terminal is "dumb".
TextStyle StyleOfStdout();

// Starts $PAGER, or less, and sends it what is written to stdout from now on. The pager shows a
// short text without waiting for a key (LESS=FRX, as git does). The destructor closes stdout and
// waits until the user leaves the pager. Does nothing if $PAGER is empty or "cat", or if the pager
// cannot be started.
class Pager {
 public:
  Pager();
  ~Pager();
  Pager(const Pager&) = delete;
  Pager& operator=(const Pager&) = delete;

 private:
  int pid_ = -1;
};

}  // namespace perftape::report_tool
