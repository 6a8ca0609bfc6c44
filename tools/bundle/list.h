// SPDX-License-Identifier: Apache-2.0
// perftape-bundle list: what a bundle says of itself and of its files.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& ListCommand();

// Its main(), whose first word is the verb. Returns the exit status.
int ListMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
