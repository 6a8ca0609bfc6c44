// SPDX-License-Identifier: Apache-2.0
#include "tests/support/elf_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace perftape {
namespace {

template <class T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

void WriteAt(std::string& image, std::uint64_t offset, std::string_view bytes) {
  if (image.size() < offset + bytes.size()) image.resize(offset + bytes.size());
  image.replace(offset, bytes.size(), bytes);
}

struct Tables {
  std::string symbols, strings;
};

Tables Encode(const std::vector<ElfBuilder::Symbol>& symbols) {
  Tables tables = {BytesOf(Elf64_Sym{}), std::string(1, '\0')};
  for (const ElfBuilder::Symbol& symbol : symbols) {
    Elf64_Sym entry = {};
    entry.st_name = static_cast<Elf64_Word>(tables.strings.size());
    entry.st_info = static_cast<unsigned char>(ELF64_ST_INFO(symbol.binding, symbol.type));
    entry.st_other = symbol.visibility;
    entry.st_shndx = symbol.section;
    entry.st_value = symbol.value;
    entry.st_size = symbol.size;
    tables.symbols += BytesOf(entry);
    tables.strings += symbol.name + '\0';
  }
  return tables;
}

// Appends the sections of a symbol table and its strings.
void Append(std::vector<ElfBuilder::Section>& sections,
            const std::vector<ElfBuilder::Symbol>& symbols, bool dynamic) {
  const auto [entries, strings] = Encode(symbols);
  const auto link = static_cast<std::uint32_t>(sections.size() + 2);
  const std::uint64_t flags = dynamic ? SHF_ALLOC : 0;
  sections.push_back({.name = dynamic ? ".dynsym" : ".symtab",
                      .type = static_cast<std::uint32_t>(dynamic ? SHT_DYNSYM : SHT_SYMTAB),
                      .flags = flags,
                      .contents = entries,
                      .link = link,
                      .entry_size = sizeof(Elf64_Sym)});
  sections.push_back({.name = dynamic ? ".dynstr" : ".strtab",
                      .type = SHT_STRTAB,
                      .flags = flags,
                      .contents = strings});
}

std::string HeaderOf(const ElfBuilder::Section& section, std::uint64_t name) {
  Elf64_Shdr header = {};
  header.sh_name = static_cast<Elf64_Word>(name);
  header.sh_type = section.type;
  header.sh_flags = section.flags;
  header.sh_addr = section.address;
  header.sh_offset = section.offset;
  header.sh_size = std::max<std::uint64_t>(section.size, section.contents.size());
  header.sh_link = section.link;
  header.sh_addralign = 1;
  header.sh_entsize = section.entry_size;
  return BytesOf(header);
}

// Writes the contents to the image, followed by the names of all sections. Returns the section
// headers, from the empty first one to that of the names.
std::string WriteSections(const std::vector<ElfBuilder::Section>& sections, std::string& image) {
  constexpr std::uint64_t kLongestStored = 1U << 20;
  std::string names(1, '\0');
  std::string headers = BytesOf(Elf64_Shdr{});
  for (ElfBuilder::Section section : sections) {
    if (section.offset == 0) section.offset = image.size();
    const std::uint64_t size = std::max<std::uint64_t>(section.size, section.contents.size());
    headers += HeaderOf(section, names.size());
    names += section.name + '\0';
    if (section.type == SHT_NOBITS || size > kLongestStored) continue;
    section.contents.resize(size);
    WriteAt(image, section.offset, section.contents);
  }
  headers +=
      HeaderOf({.name = {}, .type = SHT_STRTAB, .size = names.size(), .offset = image.size()}, 0);
  image += names;
  return headers;
}

std::string ProgramHeaders(const std::vector<ElfBuilder::Segment>& segments) {
  std::string headers;
  for (const ElfBuilder::Segment& segment : segments) {
    Elf64_Phdr header = {};
    header.p_type = segment.type;
    header.p_flags = segment.flags;
    header.p_offset = segment.offset;
    header.p_vaddr = header.p_paddr = segment.address;
    header.p_filesz = header.p_memsz = segment.size;
    header.p_align = segment.type == PT_LOAD ? 0x1000 : 4;
    headers += BytesOf(header);
  }
  return headers;
}

}  // namespace

std::uint16_t ElfBuilder::AddSection(Section section) {
  sections_.push_back(std::move(section));
  return static_cast<std::uint16_t>(sections_.size());
}

void ElfBuilder::SetBuildId(std::string_view id, NoteIn where) {
  build_id_note_ = ElfNote(std::string_view("GNU\0", 4), NT_GNU_BUILD_ID, id);
  note_in_ = where;
}

std::vector<std::byte> ElfBuilder::Build() const {
  std::vector<Section> sections = sections_;
  std::vector<Segment> segments = segments_;
  if (!symbols_.empty()) Append(sections, symbols_, false);
  if (!dynamic_symbols_.empty()) Append(sections, dynamic_symbols_, true);

  const bool has_note_segment = !build_id_note_.empty() && note_in_ == NoteIn::kSegmentToo;
  const std::size_t segment_count = segments.size() + (has_note_segment ? 1 : 0);
  const std::uint64_t note_offset = sizeof(Elf64_Ehdr) + segment_count * sizeof(Elf64_Phdr);
  if (!build_id_note_.empty()) {
    sections.push_back({.name = ".note.gnu.build-id",
                        .type = SHT_NOTE,
                        .flags = SHF_ALLOC,
                        .contents = build_id_note_,
                        .offset = note_offset});
  }
  if (has_note_segment) {
    segments.push_back({note_offset, 0, build_id_note_.size(), PF_R, PT_NOTE});
  }

  std::string image(note_offset + build_id_note_.size(), '\0');
  const std::string section_headers = WriteSections(sections, image);
  image.resize((image.size() + 7) / 8 * 8);
  WriteAt(image, 0, FileHeader(image.size(), segments.size(), sections.size() + 2));
  WriteAt(image, sizeof(Elf64_Ehdr), ProgramHeaders(segments));
  image += section_headers;
  const Bytes bytes = AsBytes(image);
  return {bytes.begin(), bytes.end()};
}

std::string ElfBuilder::FileHeader(std::uint64_t section_headers, std::size_t segments,
                                   std::size_t sections) const {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = type_;
  header.e_machine = machine_;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_shoff = section_headers;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = static_cast<Elf64_Half>(segments);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections);
  header.e_shstrndx = static_cast<Elf64_Half>(sections - 1);
  return BytesOf(header);
}

std::vector<std::byte> SmallElf(std::string_view build_id) {
  ElfBuilder elf;
  const std::uint16_t text = elf.AddSection({.name = ".text",
                                             .flags = SHF_ALLOC | SHF_EXECINSTR,
                                             .address = 0x401000,
                                             .size = 0x200,
                                             .offset = 0x1000});
  elf.AddSegment({.offset = 0x1000, .address = 0x401000, .size = 0x200});
  elf.AddSymbol({.name = "spin", .value = 0x401100, .size = 0x40, .section = text});
  if (!build_id.empty()) elf.SetBuildId(build_id);
  return elf.Build();
}

std::string ElfNote(std::string_view name, std::uint32_t type, std::string_view desc) {
  std::vector<std::byte> note;
  ByteWriter at(note);
  at.Fixed(static_cast<std::uint32_t>(name.size()));
  at.Fixed(static_cast<std::uint32_t>(desc.size()));
  at.Fixed(type);
  at.Blob(AsBytes(name), name.size());
  at.Padding(-name.size() % 4);
  at.Blob(AsBytes(desc), desc.size());
  at.Padding(-desc.size() % 4);
  return std::string(AsText(note));
}

}  // namespace perftape
