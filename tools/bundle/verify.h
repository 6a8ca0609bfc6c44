// SPDX-License-Identifier: Apache-2.0
// perftape-bundle verify: checks a bundle, and whether it has all binaries that a recording
// sampled.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& VerifyCommand();

// The main() of the verb, which is the first word. Returns the exit status.
int VerifyMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
