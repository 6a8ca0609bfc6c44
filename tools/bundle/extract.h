// SPDX-License-Identifier: Apache-2.0
// perftape-bundle extract: a bundle's files into a directory that perf knows.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& ExtractCommand();

// Its main(), whose first word is the verb. Returns the exit status.
int ExtractMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
