// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace perftape::bundle_tool {

// The default directory of perf's build-id cache: ~/.debug, or empty if HOME is not set.
std::filesystem::path DefaultBuildIdCache();

}  // namespace perftape::bundle_tool
