// SPDX-License-Identifier: Apache-2.0
// Makes an ELF file with a section of gigabytes, which is a hole and needs no disk space.
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "tests/support/temp_dir.h"

namespace perftape {

// Writes `image` (64 bit, this machine's byte order) to `name` in `dir`. Moves its first section of
// `type` behind all others and grows it to `size` bytes. Returns the path.
inline std::filesystem::path WriteSparseElf(const TempDir& dir, std::string_view name,
                                            std::vector<std::byte> image, std::uint32_t type,
                                            std::uint64_t size) {
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  const std::uint64_t hole = (image.size() + 4095) / 4096 * 4096;
  for (std::size_t i = 1; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::byte* at = &image[header.e_shoff + i * sizeof section];
    std::memcpy(&section, at, sizeof section);
    if (section.sh_type != type) continue;
    section.sh_offset = hole;
    section.sh_size = size;
    std::memcpy(at, &section, sizeof section);
    break;
  }
  const std::filesystem::path path = dir.Write(name, image);
  std::filesystem::resize_file(path, hole + size);
  return path;
}

}  // namespace perftape
