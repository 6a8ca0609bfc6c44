// SPDX-License-Identifier: Apache-2.0
// The table of perftape-bundle's verbs. A new verb is a row there and a file in this folder.
#pragma once

#include "tools/common/cli/options.h"

namespace perftape::bundle_tool {

const cli::Command& BundleCommand();

}  // namespace perftape::bundle_tool
