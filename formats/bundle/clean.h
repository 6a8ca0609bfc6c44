// SPDX-License-Identifier: Apache-2.0
// Removes from a build-id cache what bundles put there: the files that have a marker, the links to
// them, and directories that are empty then. No symbolic link is followed, so nothing outside of
// the cache is ever removed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/base/result.h"

namespace perftape::bundle {

struct CleanReport {
  std::uint64_t files = 0;  // removed
  std::uint64_t bytes = 0;  // of these files
  std::uint64_t links = 0;  // removed
  // Marked, but replaced since. They stay, and their markers go.
  std::vector<std::string> kept;
};

// kNotFound where there is no such directory, kPermission where a file cannot be removed, kIo. What
// was removed before is gone.
Result<CleanReport> Clean(const std::filesystem::path& directory);

}  // namespace perftape::bundle
