// SPDX-License-Identifier: Apache-2.0
// Where files lie in directories that are laid out by build id. All layouts that are known are
// looked for in any directory:
//
//   .build-id/aa/rest.debug, .build-id/aa/rest     /usr/lib/debug
//   .build-id/aa/rest/{elf,debug,kallsyms,vdso}    ~/.debug (perf's build-id cache)
//   PATH/ID/{elf,debug,kallsyms,vdso}              the same without its links
//   ID/{executable,debuginfo}                      debuginfod's cache
//   ID/NAME                                        pprof's ($PPROF_BINARY_PATH)
//
// (tools/perf/util/build-id.c; elfutils debuginfod/debuginfod-client.c; google/pprof
// internal/driver/fetch.go.)
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "formats/base/build_id.h"

namespace perftape {

// What is looked for: the binary, its separate debug file, a kernel's symbols, a vdso.
enum class BuildIdFile : std::uint8_t { kImage, kDebug, kKallsyms, kVdso };

// Where in `directory` it may be, the likeliest first; `recorded_path` is that of the binary on the
// recording machine. Whether any of them is there, and is what it should be, is not looked at.
std::vector<std::filesystem::path> PlacesIn(const std::filesystem::path& directory,
                                            const BuildId& build_id, BuildIdFile what,
                                            std::string_view recorded_path);

// Those that are searched unasked: ~/.debug, debuginfod's cache, /usr/lib/debug.
std::vector<std::filesystem::path> DefaultDebugDirs();

}  // namespace perftape
