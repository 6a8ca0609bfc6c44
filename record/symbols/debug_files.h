// SPDX-License-Identifier: Apache-2.0
// Separate debug files of a binary, where this machine has them: by build id, so never those of
// another build.
#pragma once

#include <filesystem>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/file.h"

namespace perftape {

struct SeparateDebugFile {
  std::filesystem::path path;
  BuildId build_id;
  UniqueFd file;
};

// Looks in /usr/lib/debug, ~/.debug and debuginfod's cache. Nothing for an empty build id.
std::vector<SeparateDebugFile> FindDebugFiles(const BuildId& build_id);

// The same in these directories, each in one of the layouts .build-id/aa/bb.debug,
// .build-id/aa/bb/debug and aabb/debuginfo.
std::vector<SeparateDebugFile> FindDebugFilesIn(
    const std::vector<std::filesystem::path>& directories, const BuildId& build_id);

}  // namespace perftape
