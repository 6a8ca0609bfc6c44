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

namespace perftape {

struct SeparateDebugFile {
  std::filesystem::path path;
  BuildId build_id;  // empty where it has none
  UniqueFd file;
};

// Where to look: for files by build id, laid out as .build-id/aa/bb.debug, .build-id/aa/bb/debug or
// aabb/debuginfo; and for a binary's own directory below each of them.
using DebugDirectories = std::vector<std::filesystem::path>;

// /usr/lib/debug, ~/.debug and debuginfod's cache.
DebugDirectories DefaultDebugDirectories();

// Those of the binary that was at `path`.
std::vector<SeparateDebugFile> FindDebugFiles(const elf::ElfFile& binary,
                                              const std::filesystem::path& path,
                                              const DebugDirectories& directories);

}  // namespace perftape
