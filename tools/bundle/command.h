// SPDX-License-Identifier: Apache-2.0
// perftape-bundle's verbs, as one table: a new one is a row in it and a file beside this.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& BundleCommand();

}  // namespace perftape::bundle_tool
