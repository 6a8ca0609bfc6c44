// SPDX-License-Identifier: Apache-2.0
// Checks paths that a file names (.gnu_debugaltlink, DW_AT_dwo_name). Whoever made the file chose
// them, so they are followed only into directories that are searched for symbols anyway.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace perftape::elf {

struct SearchedDirectories {
  // What "/" of the recording machine is here: --symfs; "/" itself where this machine recorded.
  std::vector<std::filesystem::path> roots = {};
  std::vector<std::filesystem::path> debug_dirs = {};
};

struct LinkSearchPaths {
  std::vector<std::filesystem::path> paths = {};  // to be tried in this order
  // Where the name leads, if that is in no directory that is searched. It is not in `paths`.
  std::filesystem::path outside = {};

  // "/a/b: outside the directories that are searched"; empty where `outside` is.
  std::string Refusal() const;
};

// Where the file `name` may be, which a file in the directory `beside` says. A relative name counts
// from `base`. Paths are in normal form; symbolic links are not resolved. No paths where `base` is
// empty and the name relative.
LinkSearchPaths SearchPathsOfLink(const std::filesystem::path& name,
                                  const std::filesystem::path& base,
                                  const std::filesystem::path& beside,
                                  const SearchedDirectories& searched);

// Whether `path` is below `directory` or the same, as far as their names tell.
bool IsBelow(const std::filesystem::path& path, const std::filesystem::path& directory);

}  // namespace perftape::elf
