// SPDX-License-Identifier: Apache-2.0
// Where perf has its cache of binaries by build id.
#pragma once

#include <filesystem>

namespace perftape::bundle_tool {

// ~/.debug; empty where HOME is not set.
std::filesystem::path DefaultBuildIdCache();

}  // namespace perftape::bundle_tool
