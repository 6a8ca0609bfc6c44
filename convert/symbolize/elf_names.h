// SPDX-License-Identifier: Apache-2.0
// Offsets in one ELF file to demangled names.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "convert/symbolize/symbolizer.h"
#include "formats/base/addresses.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/symbols.h"

namespace perftape {

class ElfNames {
 public:
  // With the names of `debug` too, where there is one. The files must outlive this.
  ElfNames(const elf::ElfFile& image, const elf::ElfFile* debug);

  Resolved Resolve(FileOffset offset);

 private:
  const elf::ElfFile& image_;
  elf::SymbolTable symbols_;
  std::unordered_map<const elf::Symbol*, SourceFrame> demangled_;
};

}  // namespace perftape
