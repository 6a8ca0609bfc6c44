// SPDX-License-Identifier: Apache-2.0
// The sources of names, and how names are shown.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "formats/demangle/demangle.h"

namespace perftape::symbolize {

// Whether files, /proc/kallsyms, the vdso and perf maps of this machine are sources.
enum class LocalSystem : std::uint8_t {
  kSameBoot,  // for recordings made on it in its current boot
  kAlways,
  kNever,
};

using demangle::Demangling;

// Whether DWARF is used for source lines and for inlined functions.
enum class SourceLines : std::uint8_t { kNone, kLines, kLinesAndInlines };

// Tried in this order. If a build id was recorded, it must match.
struct SymbolOptions {
  std::filesystem::path bundle = {};    // in addition to the one in the recording
  std::filesystem::path symfs = {};     // as in perf: a root directory for the recorded paths
  std::filesystem::path kallsyms = {};  // saved from the recording machine
  std::filesystem::path vmlinux = {};   // the kernel's ELF file, or its System.map
  std::vector<std::filesystem::path> debug_dirs = {};  // files by build id, in any known layout
  // Also search ~/.debug, debuginfod's cache and /usr/lib/debug.
  bool default_debug_dirs = true;
  LocalSystem local = LocalSystem::kSameBoot;

  // If not set, as kTemplates, except that names in texts stay as they are.
  std::optional<Demangling> demangling = {};
  SourceLines source_lines = SourceLines::kLinesAndInlines;
  bool replace_names = false;              // of locations that already have names
  std::filesystem::path index_cache = {};  // for built indexes; empty: no cache

  Demangling name_style() const { return demangling.value_or(Demangling::kTemplates); }

  // Returns whether the user named any source.
  bool names_sources() const {
    return local == LocalSystem::kAlways || !bundle.empty() || !symfs.empty() ||
           !kallsyms.empty() || !vmlinux.empty() || !debug_dirs.empty();
  }
};

}  // namespace perftape::symbolize
