// SPDX-License-Identifier: Apache-2.0
// The headers of an ELF file (elf(5)), of either class and byte order: file header, section headers
// and program headers. libelf is not used, because it trusts its input too much to read files from
// other machines.
#pragma once

#include <elf.h>

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/base/bytes.h"
#include "formats/base/result.h"

namespace perftape::elf {

// Elf32_Ehdr or Elf64_Ehdr. Contains the true counts, even if 16 bits are not enough and section 0
// contains them (PN_XNUM, SHN_XINDEX).
struct FileHeader {
  bool is_64 = true;
  std::endian order = std::endian::native;
  std::uint16_t type = ET_NONE;                            // ET_EXEC, ET_DYN, ET_REL, …
  std::uint16_t machine = EM_NONE;                         // EM_X86_64, …
  std::uint32_t flags = 0;                                 // machine-specific: EF_PPC64_ABI, …
  std::uint64_t program_headers = 0, section_headers = 0;  // offsets of the tables
  std::uint16_t program_header_size = 0, section_header_size = 0;
  std::uint32_t program_header_count = 0, section_count = 0;
  std::uint32_t section_names = 0;  // index of the section with the names
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
  // Whether the section has bytes in the file and an address in memory.
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

// Returns kCorrupt for a file that is not ELF, and kTruncated for one that ends inside its header.
Result<FileHeader> ReadFileHeader(Bytes image);

// The tables in their order, up to the end of the file. Sections include the empty section 0.
std::vector<Section> ReadSections(Bytes image, const FileHeader& header);
std::vector<ProgramHeader> ReadProgramHeaders(Bytes image, const FileHeader& header);

// Reads the fields of an ELF structure. A word has 4 or 8 bytes, by the class of the file.
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
