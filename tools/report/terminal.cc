// SPDX-License-Identifier: Apache-2.0
#include "tools/report/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "tools/common/cli/pager.h"

namespace perftape::report_tool {
namespace {

// The tool has no other thread when these are read.
std::string_view Environment(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

}  // namespace

TextStyle StyleOfStdout() {
  TextStyle style;
  if (!cli::IsTerminal()) return style;
  winsize size = {};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) style.width = size.ws_col;
  const std::string_view terminal = Environment("TERM");
  style.has_colours = Environment("NO_COLOR").empty() && !terminal.empty() && terminal != "dumb";
  return style;
}

}  // namespace perftape::report_tool
