// SPDX-License-Identifier: Apache-2.0
// What else an ELF file is made of, for readers of what compilers put beside the symbols.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/base/addresses.h"
#include "formats/base/bytes.h"
#include "formats/elf/elf_file.h"

namespace perftape::elf {

enum class SectionKind : std::uint8_t {
  kCode,     // loaded, and may be run
  kData,     // loaded (SHT_PROGBITS)
  kAddends,  // relocations with addends (SHT_RELA)
  kOther,
};

// A section, as it lies in the file: compressed ones are not expanded.
struct Section {
  std::string_view name;
  SectionKind kind = SectionKind::kOther;
  ImageAddress address;  // 0 where it is not loaded
  FileOffset offset;
  Bytes bytes;  // empty where it has none in the file (SHT_NOBITS)
};

// How the file writes numbers.
struct Encoding {
  std::endian order = std::endian::native;
  unsigned word_size = 8;  // of an address, in bytes: 4 or 8
};

// In the file's order, without those that reach beyond the file; empty where it has no section
// headers. Views are of `file`.
std::vector<Section> ReadSections(const ElfFile& file);

Encoding EncodingOf(const ElfFile& file);

// The whole file. Lives as long as `file`.
Bytes BytesOf(const ElfFile& file);

}  // namespace perftape::elf
