// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/headers.h"

#include <algorithm>
#include <optional>

#include "formats/base/symbol_limits.h"

namespace perftape::elf {
namespace {

// Calls `visit` with each entry of a table. Entries may be longer than `smallest`. Stops at the end
// of the file.
template <class Visit>
void ForEachEntry(Bytes image, std::uint64_t offset, std::uint64_t entry_size,
                  std::uint64_t smallest, std::uint64_t count, const Visit& visit) {
  if (entry_size < smallest || offset >= image.size()) return;
  const Bytes table = image.subspan(offset);
  const std::uint64_t there =
      std::min({count, table.size() / entry_size, std::uint64_t{symbol_limits::kElfHeaders}});
  for (std::uint64_t i = 0; i < there; ++i) visit(table.subspan(i * entry_size, entry_size));
}

// Elf64_Shdr { u32 name, type; u64 flags, addr, offset, size; u32 link, info; u64 addralign,
// entsize; }. In Elf32_Shdr all fields are u32.
Section DecodeSection(FieldReader at, std::uint32_t& name) {
  Section section;
  at.Fixed(name);
  at.Fixed(section.type);
  at.Word(section.flags);
  at.Word(section.address);
  at.Word(section.offset);
  at.Word(section.size);
  at.Fixed(section.link);
  at.Fixed(section.info);
  at.Word(section.alignment);
  at.Word(section.entry_size);
  return section;
}

// Elf64_Phdr { u32 type, flags; u64 offset, vaddr, paddr, filesz, memsz, align; }
// Elf32_Phdr { u32 type, offset, vaddr, paddr, filesz, memsz, flags, align; }
ProgramHeader DecodeProgramHeader(FieldReader at) {
  ProgramHeader header;
  std::uint64_t physical_address = 0;
  at.Fixed(header.type);
  if (at.is_64()) at.Fixed(header.flags);
  at.Word(header.offset);
  at.Word(header.address);
  at.Word(physical_address);
  at.Word(header.file_size);
  at.Word(header.memory_size);
  if (!at.is_64()) at.Fixed(header.flags);
  return header;
}

constexpr std::uint64_t SectionHeaderSize(const FileHeader& header) {
  return header.is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
}

// Section 0 contains the numbers that do not fit into the file header.
void ReadLargeNumbers(Bytes image, FileHeader& header) {
  ForEachEntry(image, header.section_headers, header.section_header_size, SectionHeaderSize(header),
               1, [&](Bytes entry) {
                 std::uint32_t name = 0;
                 const Section first = DecodeSection(FieldReader(entry, header), name);
                 if (header.section_count == 0) {
                   header.section_count = static_cast<std::uint32_t>(first.size);
                 }
                 if (header.section_names == SHN_XINDEX) header.section_names = first.link;
                 if (header.program_header_count == PN_XNUM) {
                   header.program_header_count = first.info;
                 }
               });
}

std::string_view NameAt(Bytes names, std::uint32_t offset) {
  if (offset >= names.size()) return {};
  // Many sections may have the same name. A longer one is damaged.
  const Bytes rest = names.subspan(offset);
  const std::string_view text =
      AsText(rest.first(std::min(rest.size(), symbol_limits::kSectionName)));
  const std::size_t end = text.find('\0');
  return end == std::string_view::npos ? std::string_view() : text.substr(0, end);
}

}  // namespace

// { u8 ident[16]; u16 type, machine; u32 version; word entry, phoff, shoff; u32 flags; u16 ehsize,
// phentsize, phnum, shentsize, shnum, shstrndx; }
Result<FileHeader> ReadFileHeader(Bytes image) {
  if (image.size() < EI_NIDENT || AsText(image.first(SELFMAG)) != ELFMAG) {
    return Fail(ErrorCode::kCorrupt, "not an ELF file");
  }
  FileHeader header;
  header.is_64 = image[EI_CLASS] == std::byte{ELFCLASS64};
  header.order = image[EI_DATA] == std::byte{ELFDATA2MSB} ? std::endian::big : std::endian::little;
  if (!header.is_64 && image[EI_CLASS] != std::byte{ELFCLASS32}) {
    return Fail(ErrorCode::kCorrupt, "not an ELF file: neither 32-bit nor 64-bit");
  }

  FieldReader at(image.subspan(EI_NIDENT), header);
  std::uint64_t entry = 0;
  std::uint16_t program_headers = 0, sections = 0, names = 0;
  at.Fixed(header.type);
  at.Fixed(header.machine);
  at.Padding(4);  // e_version
  at.Word(entry);
  at.Word(header.program_headers);
  at.Word(header.section_headers);
  at.Fixed(header.flags);
  at.Padding(2);  // e_ehsize
  at.Fixed(header.program_header_size);
  at.Fixed(program_headers);
  at.Fixed(header.section_header_size);
  at.Fixed(sections);
  at.Fixed(names);
  if (!at.ok()) return Fail(ErrorCode::kTruncated, "the file ends inside its ELF header");
  header.program_header_count = program_headers;
  header.section_count = sections;
  header.section_names = names;
  if (header.section_headers != 0) ReadLargeNumbers(image, header);
  return header;
}

std::vector<Section> ReadSections(Bytes image, const FileHeader& header) {
  std::vector<Section> sections;
  std::vector<std::uint32_t> name_offsets;
  if (header.section_headers == 0) return sections;
  ForEachEntry(
      image, header.section_headers, header.section_header_size, SectionHeaderSize(header),
      header.section_count, [&](Bytes entry) {
        sections.push_back(DecodeSection(FieldReader(entry, header), name_offsets.emplace_back()));
      });
  if (header.section_names >= sections.size()) return sections;
  const Section& names = sections[header.section_names];
  if (names.type == SHT_NOBITS || names.offset >= image.size()) return sections;
  const Bytes text =
      image.subspan(names.offset, std::min<std::uint64_t>(names.size, image.size() - names.offset));
  for (std::size_t i = 0; i < sections.size(); ++i) {
    sections[i].name = NameAt(text, name_offsets[i]);
  }
  return sections;
}

std::vector<ProgramHeader> ReadProgramHeaders(Bytes image, const FileHeader& header) {
  std::vector<ProgramHeader> headers;
  if (header.program_headers == 0) return headers;
  ForEachEntry(image, header.program_headers, header.program_header_size,
               header.is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr), header.program_header_count,
               [&](Bytes entry) {
                 headers.push_back(DecodeProgramHeader({entry, header}));
               });
  return headers;
}

}  // namespace perftape::elf
