// SPDX-License-Identifier: Apache-2.0
// perftape-bundle embed: appends a bundle to a perf.data.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& EmbedCommand();

// The main() of the verb, which is the first word. Returns the exit status.
int EmbedMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
