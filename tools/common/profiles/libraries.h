// SPDX-License-Identifier: Apache-2.0
// The outside libraries of all tools that read profiles, for --version.
#pragma once

#include <vector>

#include "formats/base/library_version.h"

namespace perftape::cli {

// Returns those that expand inputs and read symbols.
std::vector<LibraryVersion> LibrariesOfProfiles();

}  // namespace perftape::cli
