// SPDX-License-Identifier: Apache-2.0
// The paths at which symbol files are usually found. By build id, all known layouts are searched in
// each directory:
//
//   .build-id/aa/rest.debug, .build-id/aa/rest     /usr/lib/debug
//   .build-id/aa/rest/{elf,debug,kallsyms,vdso}    ~/.debug (perf's build-id cache)
//   PATH/ID/{elf,debug,kallsyms,vdso}              the same without its links
//   ID/{executable,debuginfo}                      debuginfod's cache
//   ID/NAME                                        pprof's ($PPROF_BINARY_PATH)
//
// (tools/perf/util/build-id.c; elfutils debuginfod/debuginfod-client.c; google/pprof
// internal/driver/fetch.go.) By the names in a binary, the paths are gdb's ("Debugging Information
// in Separate Files").
//
// These functions do not check whether a file exists or has the right build id.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/elf/searched_directories.h"

namespace perftape::elf {

// The type of the wanted file: the binary, its separate debug file, a kernel's symbols, a vdso.
enum class BuildIdFile : std::uint8_t { kImage, kDebug, kKallsyms, kVdso };

// Returns DIRECTORY/.build-id/aa/rest, where an image may be, or a directory with files of the
// build id, which is not empty.
std::filesystem::path BuildIdLink(const std::filesystem::path& directory, const BuildId& build_id);

// The paths in `directory`, the likeliest first. `recorded_path` is the path of the binary on the
// recording machine. Empty for an empty build id.
std::vector<std::filesystem::path> SearchPathsIn(const std::filesystem::path& directory,
                                                 const BuildId& build_id, BuildIdFile type,
                                                 std::string_view recorded_path);

// The directories that are searched by default: ~/.debug, debuginfod's cache, /usr/lib/debug.
std::vector<std::filesystem::path> DefaultDebugDirs();

// The paths for the .gnu_debuglink `name` of the binary at `binary`. `root` is the root directory
// of its machine. They are: beside the binary, in .debug there, and below each of `directories`.
// Empty for an empty name.
std::vector<std::filesystem::path> SearchPathsOfDebugLink(
    std::string_view name, const std::filesystem::path& binary, const std::filesystem::path& root,
    const std::vector<std::filesystem::path>& directories);

// The paths for the .gnu_debugaltlink `name` of the file at `file`. They are: the target of the
// link, if that is searched, and .dwz of each debug directory, to which dwz writes.
LinkSearchPaths SearchPathsOfDebugAltLink(std::string_view name, const std::filesystem::path& file,
                                          const SearchedDirectories& searched);

}  // namespace perftape::elf
