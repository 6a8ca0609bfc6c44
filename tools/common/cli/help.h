// SPDX-License-Identifier: Apache-2.0
// --help and --version.
#pragma once

#include <string>

#include "tools/common/cli/options.h"

namespace perftape::cli {

// "perftape-record 0.1.0\n"
std::string VersionText(const Command& command);

// Usage, purpose, one row an option, epilogue; at most 80 columns wide.
std::string HelpText(const Command& command);

}  // namespace perftape::cli
