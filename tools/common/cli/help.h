// SPDX-License-Identifier: Apache-2.0
// The texts of --help and --version, from the table of options.
#pragma once

#include <string>

#include "tools/common/cli/options.h"

namespace perftape::cli {

// Returns "perftape-record 0.1.0\n".
std::string VersionText(const Command& command);

// Returns usage, purpose, one row per option, and epilogue; at most 80 columns wide.
std::string HelpText(const Command& command);

}  // namespace perftape::cli
