// SPDX-License-Identifier: Apache-2.0
// perftape-bundle strip: the bundle out of a perf.data.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& StripCommand();

// Its main(), whose first word is the verb. Returns the exit status.
int StripMain(int argc, char** argv);

}  // namespace perftape::bundle_tool
