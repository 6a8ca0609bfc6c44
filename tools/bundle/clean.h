// SPDX-License-Identifier: Apache-2.0
// perftape-bundle clean: removes from a build-id cache what came out of bundles.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& CleanCommand();

// Its main(), whose first word is the verb. Returns the exit status.
int CleanMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
