// SPDX-License-Identifier: Apache-2.0
// Man pages, as Markdown of pandoc, whose option lines come from the table of options.
#pragma once

#include <string>
#include <string_view>

#include "formats/base/result.h"
#include "tools/common/cli/options.h"

namespace perftape::cli {

// Returns `source` with its option lines filled in from the rows of `command`. A line "{--output}"
// becomes "**-o**, **\--output** *FILE*", "{-g}" becomes "**-g**"; below such a line "{choices}"
// becomes the words that the option accepts. The options of a verb are in the section with its
// name, "## list". kInvalidArgument, with the line, if it names no option of the command; also if
// an option has no line or two.
Result<std::string> ManPage(const Command& command, std::string_view source);

}  // namespace perftape::cli
