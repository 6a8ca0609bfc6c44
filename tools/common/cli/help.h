// SPDX-License-Identifier: Apache-2.0
// What a command says of itself, from its table of options: the texts of --help and --version, its
// completion by a shell, its man page.
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

// Returns the man page `source`, in Markdown of pandoc, with its option lines filled in from the
// rows of `command`. A line "{--output}" becomes "**-o**, **\--output** *FILE*", "{-g}" becomes
// "**-g**"; below such a line "{choices}" becomes the words that the option accepts. The options of
// a verb are in the section with its name, "## list". kInvalidArgument, with the line, if it names
// no option of the command; also if an option has no line or two.
Result<std::string> ManPage(const Command& command, std::string_view source);

}  // namespace perftape::cli
