// SPDX-License-Identifier: Apache-2.0
// The command line of this process.
#pragma once

#include <string>
#include <vector>

namespace perftape::recording {

// Returns the words that this process was started with, the program first, for the feature CMDLINE;
// none if they cannot be read.
std::vector<std::string> OwnCommandLine();

}  // namespace perftape::recording
