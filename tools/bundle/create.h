// SPDX-License-Identifier: Apache-2.0
// perftape-bundle create: the symbols of what a recording hit, from this machine.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& CreateCommand();

// Its main(), whose first word is the verb. Returns the exit status.
int CreateMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
