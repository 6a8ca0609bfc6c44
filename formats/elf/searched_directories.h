// SPDX-License-Identifier: Apache-2.0
// Checks paths that are named in a file (.gnu_debugaltlink, DW_AT_dwo_name). The creator of the
// file chose them, so they are followed only into directories that are searched for symbols anyway.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace perftape::elf {

struct SearchedDirectories {
  // The local copies of the recording machine's "/" (--symfs). "/" itself if this machine recorded.
  std::vector<std::filesystem::path> roots = {};
  std::vector<std::filesystem::path> debug_dirs = {};
};

struct LinkSearchPaths {
  std::vector<std::filesystem::path> paths = {};  // in the order in which they are tried
  // The target of the name, if no searched directory contains it. Then it is not in `paths`.
  std::filesystem::path outside = {};

  // "/a/b: outside the directories that are searched". Empty if `outside` is.
  std::string Refusal() const;
};

// The paths for the file `name`, which is named in a file in the directory `beside`. A relative
// name is relative to `base`. Paths are normalized; symbolic links are not resolved. Empty if
// `base` is empty and the name relative.
LinkSearchPaths SearchPathsOfLink(const std::filesystem::path& name,
                                  const std::filesystem::path& base,
                                  const std::filesystem::path& beside,
                                  const SearchedDirectories& searched);

// Whether `path` is below `directory` or equal to it. Compares names only.
bool IsBelow(const std::filesystem::path& path, const std::filesystem::path& directory);

}  // namespace perftape::elf
