// SPDX-License-Identifier: Apache-2.0
// perftape-bundle clean: removes the files that bundles added to a build-id cache.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& CleanCommand();

// The main() of the verb, which is the first word. Returns the exit status.
int CleanMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
