// SPDX-License-Identifier: Apache-2.0
// Finds the separate debug files of a binary on this machine, by build id or by the name and
// checksum in .gnu_debuglink. So files of another build are never found. Includes the shared file
// made by dwz.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/base/file.h"
#include "formats/elf/elf_file.h"
#include "record/symbols/others_files.h"

namespace perftape::record {

struct SeparateDebugFile {
  std::filesystem::path path;
  BuildId build_id;  // empty if it has none
  UniqueFd file;
  std::string refused = {};  // why a linked file was not opened; then `file` is empty
};

// Returns the debug files of the binary that was at `path`. Searches `directories` by build id, and
// follows the binary's links, there and in its own directory (formats/elf/debug_search_paths.h).
// Refuses links to any other directory. `files` opens what is not in `directories`.
std::vector<SeparateDebugFile> FindDebugFiles(const elf::ElfFile& binary,
                                              const std::filesystem::path& path,
                                              const std::vector<std::filesystem::path>& directories,
                                              OthersFiles& files);

// Returns the path of a copy of the binary itself, perhaps an unstripped one, by its build id
// (perf's build-id cache, debuginfod's cache). Returns nothing if there is none.
std::optional<std::filesystem::path> FindImage(
    const elf::ElfFile& binary, const std::vector<std::filesystem::path>& directories,
    OthersFiles& files);

}  // namespace perftape::record
