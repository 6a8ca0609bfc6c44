// SPDX-License-Identifier: Apache-2.0
// A binary with all files that were found of it, and the names in them.
#pragma once

#include <optional>
#include <utility>

#include "convert/symbolize/debug_files.h"
#include "convert/symbolize/elf_names.h"
#include "convert/symbolize/symbol_options.h"

namespace perftape::symbolize {

// Stays where it was made: the names refer to the files.
struct ElfBinary {
  ElfBinary(DebugFile found, const SymbolOptions& options);
  ElfBinary(const ElfBinary&) = delete;
  ElfBinary& operator=(const ElfBinary&) = delete;

  DebugFile file;
  std::optional<ElfNames> names;  // none where there is no image
};

// Names at all the offsets, with what they are of: "/usr/bin/ls (symbols, DWARF)". The file's
// misses where it was not found.
Resolution ResolveIn(ElfBinary& binary, std::span<const FileOffset> offsets);

}  // namespace perftape::symbolize
