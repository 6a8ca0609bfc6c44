// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/symbol_entries.h"

namespace perftape::elf {

SymbolEntries::SymbolEntries(const ElfFile& file, const Section& section)
    : is_64_(file.header().is_64), order_(file.header().order) {
  if (section.type != SHT_SYMTAB && section.type != SHT_DYNSYM) return;
  if ((section.flags & SHF_COMPRESSED) != 0) return;
  entries_ = file.RawBytes(section);
  stride_ = is_64_ ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  count_ = entries_.size() / stride_;
  if (section.link >= file.sections().size()) return;
  const std::string_view strings = AsText(file.RawBytes(file.sections()[section.link]));
  strings_ = strings.substr(0, strings.rfind('\0') + 1);
}

}  // namespace perftape::elf
