// SPDX-License-Identifier: Apache-2.0
#include "tools/record/perf_rows.h"

#include <fmt/core.h>

#include "tools/common/cli/escape.h"

namespace perftape::record_tool {

Result<std::string> ParseSynthesis(std::string_view option, std::string_view text) {
  if (text == "all") return std::string(text);
  return Fail(
      ErrorCode::kInvalidArgument,
      fmt::format("{}: '{}' is not supported: tasks, mappings and the cgroups of samples are "
                  "always recorded: use all",
                  option, cli::EscapeForTerminal(text)));
}

}  // namespace perftape::record_tool
