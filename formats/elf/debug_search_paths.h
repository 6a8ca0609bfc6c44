// SPDX-License-Identifier: Apache-2.0
// Where symbols lie by custom. By build id: all layouts that are known are looked for in any
// directory:
//
//   .build-id/aa/rest.debug, .build-id/aa/rest     /usr/lib/debug
//   .build-id/aa/rest/{elf,debug,kallsyms,vdso}    ~/.debug (perf's build-id cache)
//   PATH/ID/{elf,debug,kallsyms,vdso}              the same without its links
//   ID/{executable,debuginfo}                      debuginfod's cache
//   ID/NAME                                        pprof's ($PPROF_BINARY_PATH)
//
// (tools/perf/util/build-id.c; elfutils debuginfod/debuginfod-client.c; google/pprof
// internal/driver/fetch.go.) And by the names in a binary, as gdb looks for them ("Debugging
// Information in Separate Files").
//
// Whether any of the search_paths is there, and has what it should have, is not looked at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "formats/base/build_id.h"
#include "formats/elf/searched_directories.h"

namespace perftape::elf {

// What is looked for: the binary, its separate debug file, a kernel's symbols, a vdso.
enum class BuildIdFile : std::uint8_t { kImage, kDebug, kKallsyms, kVdso };

// Where in `directory` it may be, the likeliest first; `recorded_path` is that of the binary on the
// recording machine. Nothing for an empty build id.
std::vector<std::filesystem::path> SearchPathsIn(const std::filesystem::path& directory,
                                                 const BuildId& build_id, BuildIdFile what,
                                                 std::string_view recorded_path);

// Those that are searched unasked: ~/.debug, debuginfod's cache, /usr/lib/debug.
std::vector<std::filesystem::path> DefaultDebugDirs();

// Where the file may be that .gnu_debuglink of a binary names, which was at `binary` of the machine
// whose files are below `root`: beside it, in .debug there, and below each of `directories`.
// Nothing for an empty name.
std::vector<std::filesystem::path> SearchPathsOfDebugLink(
    std::string_view name, const std::filesystem::path& binary, const std::filesystem::path& root,
    const std::vector<std::filesystem::path>& directories);

// Where the file may be that .gnu_debugaltlink of the file at `file` names: where the name leads,
// if that is searched, and in .dwz of each debug directory, where dwz puts it.
LinkSearchPaths SearchPathsOfDebugAltLink(std::string_view name, const std::filesystem::path& file,
                                          const SearchedDirectories& searched);

}  // namespace perftape::elf
