// SPDX-License-Identifier: Apache-2.0
// The terminal that shows a report.
#pragma once

#include "tools/report/table.h"

namespace perftape::report_tool {

// Returns the style for stdout: the width of the terminal, no limit elsewhere; colours on a
// terminal, unless NO_COLOR is set or the terminal is "dumb".
TextStyle StyleOfStdout();

}  // namespace perftape::report_tool
