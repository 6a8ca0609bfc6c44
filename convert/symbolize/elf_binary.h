// SPDX-License-Identifier: Apache-2.0
// A binary with all files that were found for it, and the names in them.
#pragma once

#include <optional>
#include <utility>

#include "convert/symbolize/debug_files.h"
#include "convert/symbolize/elf_names.h"
#include "convert/symbolize/symbol_options.h"

namespace perftape::symbolize {

// Cannot be moved, because the names refer to the files.
struct ElfBinary {
  ElfBinary(DebugFile found, const SymbolOptions& options);
  ElfBinary(const ElfBinary&) = delete;
  ElfBinary& operator=(const ElfBinary&) = delete;

  DebugFile file;
  std::optional<ElfNames> names;  // nothing if there is no image
};

// Resolves all offsets. The source is reported with its content: "/usr/bin/ls (symbols, DWARF)". If
// no file was found, all offsets get its miss.
Resolution ResolveIn(ElfBinary& binary, std::span<const FileOffset> offsets);

}  // namespace perftape::symbolize
