// SPDX-License-Identifier: Apache-2.0
// libelf as the files of this room see it; included by no header and by no other room.
#pragma once

#include <gelf.h>
#include <libelf.h>

#include <optional>

#include "formats/base/file.h"
#include "formats/elf/elf_file.h"

namespace perftape::elf {

struct ElfFile::Handle {
  Handle() = default;
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  ~Handle() { elf_end(elf); }

  std::optional<MappedFile> mapping;  // none for an image in memory
  Bytes image;
  Elf* elf = nullptr;
  GElf_Ehdr header = {};
};

// Calls visit(Elf_Scn*, const GElf_Shdr&) for each section whose header can be read.
template <class Visit>
void ForEachSection(const ElfFile::Handle& handle, const Visit& visit) {
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(handle.elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) != nullptr) visit(section, header);
  }
}

// Has bytes in the file, and a place in memory.
inline bool IsLoaded(const GElf_Shdr& section) {
  return (section.sh_flags & SHF_ALLOC) != 0 && section.sh_type != SHT_NOBITS;
}

}  // namespace perftape::elf
