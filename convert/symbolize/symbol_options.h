// SPDX-License-Identifier: Apache-2.0
// Where names may be taken from, and how they are shown.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace perftape::symbolize {

// Whether files, /proc/kallsyms, the vdso and perf maps of this very machine give names.
enum class LocalSystem : std::uint8_t {
  kSameBoot,  // to recordings that were made on it since it was booted
  kAlways,
  kNever,
};

enum class Demangling : std::uint8_t {
  kNone,       // names as the linker knows them
  kSimple,     // without parameters, return types and the arguments of templates
  kTemplates,  // without parameters and return types, as perf report shows them
  kFull,       // "void f<int>(std::string const&)"
};

// Whether DWARF is asked for source lines and for the functions that were inlined.
enum class SourceLines : std::uint8_t { kNone, kLines, kLinesAndInlines };

// Tried in this order; each by build id where one is recorded.
struct SymbolOptions {
  std::filesystem::path bundle = {};                   // besides the one in the recording itself
  std::filesystem::path symfs = {};                    // as perf's: the recorded paths below it
  std::filesystem::path kallsyms = {};                 // saved from the recording machine
  std::filesystem::path vmlinux = {};                  // the kernel's ELF file, or its System.map
  std::vector<std::filesystem::path> debug_dirs = {};  // files by build id, in any known layout
  // Those that are searched unasked: ~/.debug, debuginfod's cache, /usr/lib/debug.
  bool default_debug_dirs = true;
  LocalSystem local = LocalSystem::kSameBoot;

  Demangling demangling = Demangling::kTemplates;
  SourceLines source_lines = SourceLines::kLinesAndInlines;
  bool replace_names = false;              // of locations that have names already
  std::filesystem::path index_cache = {};  // of built indexes; empty: none is kept

  // Whether the user named any source.
  bool names_sources() const {
    return local == LocalSystem::kAlways || !bundle.empty() || !symfs.empty() ||
           !kallsyms.empty() || !vmlinux.empty() || !debug_dirs.empty();
  }
};

}  // namespace perftape::symbolize
