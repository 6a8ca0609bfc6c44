// SPDX-License-Identifier: Apache-2.0
// Checks a bundle: each file must be at the path in the manifest, have its build id, and be found
// by perf's link.
#pragma once

#include <string>
#include <vector>

#include "formats/bundle/bundle.h"

namespace perftape::bundle_check {

// Returns "2 members with a path outside of the directory, 1 member with a repeated name"; empty if
// there are none.
std::string TextOf(const bundle::PassedOver& passed_over);

// Returns a line for each error; empty for a valid bundle.
std::vector<std::string> FindContradictions(const bundle::Bundle& bundle);

}  // namespace perftape::bundle_check
