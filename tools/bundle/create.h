// SPDX-License-Identifier: Apache-2.0
// perftape-bundle create: collects the symbols of a recording from this machine.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& CreateCommand();

// The main() of the verb, which is the first word. Returns the exit status.
int CreateMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
