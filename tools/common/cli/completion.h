// SPDX-License-Identifier: Apache-2.0
// Completion of a command line by a shell.
#pragma once

#include <string>
#include <string_view>

#include "formats/base/result.h"
#include "tools/common/cli/options.h"

namespace perftape::cli {

// A script for the shell to source. kInvalidArgument for shells other than bash.
Result<std::string> CompletionScript(const Command& command, std::string_view shell);

}  // namespace perftape::cli
