// SPDX-License-Identifier: Apache-2.0
// perftape-bundle extract: writes a bundle's files into a directory in perf's layout.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& ExtractCommand();

// The main() of the verb, which is the first word. Returns the exit status.
int ExtractMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
