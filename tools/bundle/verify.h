// SPDX-License-Identifier: Apache-2.0
// perftape-bundle verify: whether a bundle is what it says, and enough for a recording.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& VerifyCommand();

// Its main(), whose first word is the verb. Returns the exit status.
int VerifyMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
