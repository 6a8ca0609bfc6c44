// SPDX-License-Identifier: Apache-2.0
// Removes the files that bundles added to a build-id cache: files with a marker, links to them, and
// directories that become empty. It follows no symbolic link, so it removes nothing outside the
// cache.
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
  // Files that were replaced after they were marked. They stay; their markers are removed.
  std::vector<std::string> kept;
};

// Returns kNotFound if there is no such directory, kPermission if a file cannot be removed, or kIo.
// Removals before the error are permanent.
Result<CleanReport> Clean(const std::filesystem::path& directory);

}  // namespace perftape::bundle
