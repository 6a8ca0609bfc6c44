// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/sections.h"

#include "formats/elf/libelf_handle.h"

namespace perftape::elf {
namespace {

SectionKind KindOf(const GElf_Shdr& header) {
  if (header.sh_type == SHT_RELA) return SectionKind::kAddends;
  const bool is_loaded = (header.sh_flags & SHF_ALLOC) != 0;
  if (is_loaded && (header.sh_flags & SHF_EXECINSTR) != 0) return SectionKind::kCode;
  return is_loaded && header.sh_type == SHT_PROGBITS ? SectionKind::kData : SectionKind::kOther;
}

}  // namespace

std::vector<Section> ReadSections(const ElfFile& file) {
  const ElfFile::Handle& handle = file.handle();
  std::size_t names = 0;
  if (elf_getshdrstrndx(handle.elf, &names) != 0) names = 0;
  std::vector<Section> sections;
  ForEachSection(handle, [&](Elf_Scn*, const GElf_Shdr& header) {
    const bool has_bytes = header.sh_type != SHT_NOBITS;
    const std::uint64_t size = handle.image.size();
    if (has_bytes && header.sh_offset > size) return;
    if (has_bytes && header.sh_size > size - header.sh_offset) return;
    const char* name = elf_strptr(handle.elf, names, header.sh_name);
    sections.push_back(
        {.name = name == nullptr ? std::string_view() : std::string_view(name),
         .kind = KindOf(header),
         .address = {header.sh_addr},
         .offset = {header.sh_offset},
         .bytes = has_bytes ? handle.image.subspan(header.sh_offset, header.sh_size) : Bytes()});
  });
  return sections;
}

Encoding EncodingOf(const ElfFile& file) {
  const unsigned char* ident = file.handle().header.e_ident;
  return {.order = ident[EI_DATA] == ELFDATA2MSB ? std::endian::big : std::endian::little,
          .word_size = ident[EI_CLASS] == ELFCLASS32 ? 4U : 8U};
}

Bytes BytesOf(const ElfFile& file) {
  return file.handle().image;
}

}  // namespace perftape::elf
