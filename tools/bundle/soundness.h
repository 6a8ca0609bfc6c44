// SPDX-License-Identifier: Apache-2.0
// Whether a bundle is what it says: each file where the manifest has it, under its own build id,
// and found by perf's link.
#pragma once

#include <string>
#include <vector>

#include "formats/bundle/bundle.h"

namespace perftape::bundle_tool {

// What is not as it should be, a line for each; none where all is.
std::vector<std::string> FindContradictions(const bundle::Bundle& bundle);

}  // namespace perftape::bundle_tool
