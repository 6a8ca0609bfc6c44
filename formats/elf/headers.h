// SPDX-License-Identifier: Apache-2.0
// The headers of an ELF file (elf(5)), of either class and byte order: file header, section
// headers, program headers. libelf is not used: it trusts a file more than a file of another
// machine deserves.
#pragma once

#include <elf.h>

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::elf {

// Elf32_Ehdr or Elf64_Ehdr; of what is counted elsewhere where 16 bits are too few (PN_XNUM,
// SHN_XINDEX), the true numbers.
struct FileHeader {
  bool is_64 = true;
  std::endian order = std::endian::native;
  std::uint16_t type = ET_NONE;                            // ET_EXEC, ET_DYN, ET_REL, …
  std::uint16_t machine = EM_NONE;                         // EM_X86_64, …
  std::uint32_t flags = 0;                                 // by machine: EF_PPC64_ABI, …
  std::uint64_t program_headers = 0, section_headers = 0;  // offsets of the tables
  std::uint16_t program_header_size = 0, section_header_size = 0;
  std::uint32_t program_header_count = 0, section_count = 0;
  std::uint32_t section_names = 0;  // the number of the section with the names
};

// Elf32_Shdr or Elf64_Shdr.
struct Section {
  std::string_view name;  // a view of the file; empty if its offset is outside the names
  std::uint32_t type = SHT_NULL;
  std::uint64_t flags = 0;
  std::uint64_t address = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint32_t link = 0, info = 0;
  std::uint64_t alignment = 0;
  std::uint64_t entry_size = 0;

  bool is_code() const { return (flags & SHF_ALLOC) != 0 && (flags & SHF_EXECINSTR) != 0; }
  // Has bytes in the file, and an address in memory.
  bool is_loaded() const { return (flags & SHF_ALLOC) != 0 && type != SHT_NOBITS; }
};

// Elf32_Phdr or Elf64_Phdr.
struct ProgramHeader {
  std::uint32_t type = PT_NULL;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t address = 0;
  std::uint64_t file_size = 0, memory_size = 0;
};

// kCorrupt for what is no ELF file, kTruncated for one that ends inside its header.
Result<FileHeader> ReadFileHeader(Bytes image);

// By number, the empty section 0 included; up to where the file ends.
std::vector<Section> ReadSections(Bytes image, const FileHeader& header);
std::vector<ProgramHeader> ReadProgramHeaders(Bytes image, const FileHeader& header);

// The fields of an ELF structure: some have 4 bytes or 8, as the file has.
class FieldReader : public ByteReader {
 public:
  FieldReader(Bytes bytes, const FileHeader& header)
      : ByteReader(bytes, header.order), is_64_(header.is_64) {}

  bool is_64() const { return is_64_; }
  void Word(std::uint64_t& field) {
    if (is_64_) {
      Fixed(field);
    } else {
      std::uint32_t narrow = 0;
      Fixed(narrow);
      field = narrow;
    }
  }

 private:
  bool is_64_;
};

}  // namespace perftape::elf
