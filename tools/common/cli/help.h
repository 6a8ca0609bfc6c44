// SPDX-License-Identifier: Apache-2.0
// Prints the table of options as help, completion script and version.
#pragma once

#include <string>
#include <string_view>

#include "formats/base/result.h"
#include "tools/common/cli/options.h"

namespace perftape::cli {

// Returns "perftape-record 0.1.0\n".
std::string VersionText(const Command& command);

// Returns usage, purpose, one row per option, and epilogue; at most 80 columns wide.
std::string HelpText(const Command& command);

// Returns a script for the shell to source. Fails with kInvalidArgument for shells other than bash.
Result<std::string> CompletionScript(const Command& command, std::string_view shell);

// Returns the differences between `man_page` (Markdown) and the table, one per line. These are
// options that only one of them has, or that have an argument in only one of them. A page describes
// an option in a line of its own:
//   **-o**, **\--output** *FILE*
//   **-z**, **\--compression-level**[=*LEVEL*]
// Options of a verb are in a section with its name, "## list".
std::string ManPageDifferences(const Command& command, std::string_view man_page);

}  // namespace perftape::cli
