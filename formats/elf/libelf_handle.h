// SPDX-License-Identifier: Apache-2.0
// A libelf handle over an ElfFile. Only .cc files of formats/elf include it.
#pragma once

#include <gelf.h>
#include <libelf.h>

#include "formats/elf/elf_file.h"

namespace perftape::elf {

// `elf` is null if libelf rejects the file. The file must outlive the handle.
struct LibelfHandle {
  explicit LibelfHandle(const ElfFile& file) : image(file.image()) {
    elf_version(EV_CURRENT);
    // libelf's interface requires writable memory, but it writes only when asked to update.
    auto* bytes = reinterpret_cast<char*>(const_cast<std::byte*>(image.data()));
    elf = elf_memory(bytes, image.size());
    if (elf == nullptr || elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == nullptr) {
      elf_end(elf);
      elf = nullptr;
    }
  }
  LibelfHandle(const LibelfHandle&) = delete;
  LibelfHandle& operator=(const LibelfHandle&) = delete;
  ~LibelfHandle() { elf_end(elf); }

  Bytes image;
  Elf* elf = nullptr;
  GElf_Ehdr header = {};
};

}  // namespace perftape::elf
