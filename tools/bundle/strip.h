// SPDX-License-Identifier: Apache-2.0
// perftape-bundle strip: removes the bundle from a perf.data.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& StripCommand();

// The main() of the verb, which is the first word. Returns the exit status.
int StripMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
