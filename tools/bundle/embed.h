// SPDX-License-Identifier: Apache-2.0
// perftape-bundle embed: a bundle into a perf.data.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& EmbedCommand();

// Its main(), whose first word is the verb. Returns the exit status.
int EmbedMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
