// SPDX-License-Identifier: Apache-2.0
// Separate debug files of a binary, where this machine has them: by build id, or by the name and
// checksum in its .gnu_debuglink; so never those of another build. With them comes the file that
// they share parts with (dwz).
#pragma once

#include <filesystem>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/file.h"
#include "formats/elf/elf_file.h"

namespace perftape::record {

struct SeparateDebugFile {
  std::filesystem::path path;
  BuildId build_id;  // empty where it has none
  UniqueFd file;
  std::string refused = {};  // why a file that the binary names was not opened; then `file` is none
};

// Those of the binary that was at `path`: by build id in `directories`, or by its links, from there
// and from its own directory (formats/elf/debug_search_paths.h). A link that leads anywhere else is
// refused.
std::vector<SeparateDebugFile> FindDebugFiles(
    const elf::ElfFile& binary, const std::filesystem::path& path,
    const std::vector<std::filesystem::path>& directories);

}  // namespace perftape::record
