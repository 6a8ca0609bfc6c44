// SPDX-License-Identifier: Apache-2.0
// What the table of options says to a person and to a shell.
#pragma once

#include <string>
#include <string_view>

#include "formats/base/result.h"
#include "tools/common/cli/options.h"

namespace perftape::cli {

// "perftape-record 0.1.0\n"
std::string VersionText(const Command& command);

// Usage, purpose, one row an option, epilogue; at most 80 columns wide.
std::string HelpText(const Command& command);

// A script for the shell to source. kInvalidArgument for shells other than bash.
Result<std::string> CompletionScript(const Command& command, std::string_view shell);

// Where `man_page` (Markdown) and the table disagree, one line each: options that only one of them
// knows, or that take an argument in only one. A page describes an option in a line of its own:
//   **-o**, **\--output** *FILE*
//   **-z**, **\--compression-level**[=*LEVEL*]
// Those of a verb are in a section with its name, "## list".
std::string ManPageDifferences(const Command& command, std::string_view man_page);

}  // namespace perftape::cli
