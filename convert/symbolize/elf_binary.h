// SPDX-License-Identifier: Apache-2.0
// A binary with all files that were found for it, and the names in them.
#pragma once

#include <memory>
#include <span>

#include "convert/symbolize/debug_files.h"
#include "convert/symbolize/elf_names.h"
#include "convert/symbolize/symbol_options.h"

namespace perftape::symbolize {

// Not thread-safe. Cannot be moved, because the names refer to the files.
class ElfBinary {
 public:
  ElfBinary(DebugFile found, const SymbolOptions& options);
  ElfBinary(const ElfBinary&) = delete;
  ElfBinary& operator=(const ElfBinary&) = delete;

  const DebugFile& file() const { return file_; }
  // Returns null if there is no image. The first call reads the symbols, and what locates the DWARF
  // of an address.
  ElfNames* names();

 private:
  DebugFile file_;
  const ElfNameOptions name_options_;
  std::unique_ptr<ElfNames> names_;
};

// Resolves all offsets. The source is reported with its content: "/usr/bin/ls (symbols, DWARF)". If
// no file was found, all offsets get its miss.
Resolution ResolveIn(ElfBinary& binary, std::span<const FileOffset> offsets);

}  // namespace perftape::symbolize
