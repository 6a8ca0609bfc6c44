// SPDX-License-Identifier: Apache-2.0
// perftape-bundle list: prints the manifest and the files of a bundle.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& ListCommand();

// The main() of the verb, which is the first word. Returns the exit status.
int ListMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
