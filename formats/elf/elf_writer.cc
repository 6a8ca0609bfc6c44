// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/elf_writer.h"

#include <elf.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "formats/base/bytes.h"

namespace perftape::elf {
namespace {

enum SectionNumber : std::uint16_t { kNull, kNote, kText, kSymtab, kStrtab, kShstrtab, kSections };

constexpr std::uint64_t kNoteOffset = 0x100;  // after the headers, before the text
constexpr std::byte kTrap{0xcc};              // int3: this code never runs
constexpr std::string_view kNoteOwner("GNU\0", 4);

// Part of the hash for the id, because another layout is another file.
constexpr std::uint64_t kLayout = 2;

constexpr char kSectionNamesText[] = "\0.note.gnu.build-id\0.text\0.symtab\0.strtab\0.shstrtab";
constexpr std::string_view kSectionNames(kSectionNamesText, sizeof kSectionNamesText);

std::uint32_t NameOffsetOf(std::string_view section) {
  return static_cast<std::uint32_t>(kSectionNames.find(section));
}

std::string_view UpToNul(std::string_view name) {
  return name.substr(0, name.find('\0'));
}

// The file while it is written. Appended parts begin at a multiple of 8.
class Image {
 public:
  template <class T>
  void Put(const T& value, std::uint64_t at) {
    Put(std::as_bytes(std::span(&value, 1)), at);
  }
  void Put(Bytes bytes, std::uint64_t at) {
    bytes_.resize(std::max<std::size_t>(bytes_.size(), at + bytes.size()));
    if (!bytes.empty()) std::memcpy(bytes_.data() + at, bytes.data(), bytes.size());
  }
  // Returns the offset of the appended bytes.
  std::uint64_t Append(Bytes bytes) {
    const std::uint64_t at = RoundUpToWord(bytes_.size());
    Put(bytes, at);
    return at;
  }
  std::vector<std::byte> Finish() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// { u32 name_size, desc_size, type; char name[4]; u8 desc[]; }
std::vector<std::byte> NoteOf(const BuildId& id) {
  std::vector<std::byte> note;
  ByteWriter at(note);
  at.Fixed(static_cast<std::uint32_t>(kNoteOwner.size()));
  at.Fixed(static_cast<std::uint32_t>(id.size));
  at.Fixed(std::uint32_t{NT_GNU_BUILD_ID});
  at.Blob(AsBytes(kNoteOwner), kNoteOwner.size());
  at.Blob(std::as_bytes(std::span(id.bytes)), id.size);
  return note;
}

struct Symbols {
  std::vector<Elf64_Sym> table = {{}};
  std::string names = std::string(2, '\0');
};

Symbols SymbolsOf(std::span<const std::string_view> names) {
  Symbols symbols;
  std::uint64_t address = kTextOffset;
  for (const std::string_view full : names) {
    const std::string_view name = UpToNul(full);
    Elf64_Sym symbol = {};
    // perf ignores symbols whose name offset is 0, the empty name in other files.
    symbol.st_name = name.empty() ? 1 : static_cast<std::uint32_t>(symbols.names.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = kText;
    symbol.st_value = address;
    symbol.st_size = kFunctionSize;
    symbols.table.push_back(symbol);
    if (!name.empty()) symbols.names.append(name).push_back('\0');
    address += kFunctionSize;
  }
  return symbols;
}

Elf64_Ehdr HeaderFor(std::uint64_t section_headers) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof header;
  header.e_shoff = section_headers;
  header.e_ehsize = sizeof header;
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_phnum = 2;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = kSections;
  header.e_shstrndx = kShstrtab;
  return header;
}

Elf64_Phdr SegmentOf(std::uint32_t type, std::uint32_t flags, std::uint64_t at,
                     std::uint64_t size) {
  Elf64_Phdr segment = {};
  segment.p_type = type;
  segment.p_flags = flags;
  segment.p_offset = segment.p_vaddr = segment.p_paddr = at;
  segment.p_filesz = segment.p_memsz = size;
  segment.p_align = type == PT_LOAD ? kTextOffset : 4;
  return segment;
}

Elf64_Shdr SectionOf(std::string_view name, std::uint32_t type, std::uint64_t flags,
                     std::uint64_t at, std::uint64_t size) {
  Elf64_Shdr section = {};
  section.sh_name = NameOffsetOf(name);
  section.sh_type = type;
  section.sh_flags = flags;
  section.sh_addr = (flags & SHF_ALLOC) != 0 ? at : 0;
  section.sh_offset = at;
  section.sh_size = size;
  section.sh_addralign = type == SHT_NOTE ? 4 : 8;
  return section;
}

}  // namespace

BuildId NamedFunctionsId(std::span<const std::string_view> names) {
  std::array<XXH128_hash_t, 2> hashes = {};
  for (std::uint64_t i = 0; i < hashes.size(); ++i) {
    XXH3_state_t state;
    XXH3_INITSTATE(&state);  // GCC 12 would warn about uninitialized reads
    XXH3_128bits_reset_withSeed(&state, kLayout * hashes.size() + i);
    for (const std::string_view full : names) {
      const std::string_view name = UpToNul(full);
      XXH3_128bits_update(&state, name.data(), name.size());
      XXH3_128bits_update(&state, "", 1);
    }
    hashes[i] = XXH3_128bits_digest(&state);
  }
  return BuildId::From(std::as_bytes(std::span(hashes)));
}

std::vector<std::byte> NamedFunctionsFile(std::span<const std::string_view> names) {
  const std::vector<std::byte> note = NoteOf(NamedFunctionsId(names));
  const std::vector<std::byte> text(names.size() * kFunctionSize, kTrap);
  const Symbols symbols = SymbolsOf(names);

  Image image;
  image.Put(SegmentOf(PT_LOAD, PF_R | PF_X, 0, kTextOffset + text.size()), sizeof(Elf64_Ehdr));
  image.Put(SegmentOf(PT_NOTE, PF_R, kNoteOffset, note.size()),
            sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr));
  image.Put(Bytes(note), kNoteOffset);
  image.Put(Bytes(text), kTextOffset);
  const Bytes table = std::as_bytes(std::span(symbols.table));
  const std::uint64_t table_at = image.Append(table);
  const std::uint64_t names_at = image.Append(AsBytes(symbols.names));
  const std::uint64_t section_names_at = image.Append(AsBytes(kSectionNames));

  std::array<Elf64_Shdr, kSections> sections = {};
  sections[kNote] = SectionOf(".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, kNoteOffset, note.size());
  sections[kText] =
      SectionOf(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, kTextOffset, text.size());
  sections[kSymtab] = SectionOf(".symtab", SHT_SYMTAB, 0, table_at, table.size());
  sections[kSymtab].sh_link = kStrtab;
  sections[kSymtab].sh_info = 1;  // index of the first symbol that is not local
  sections[kSymtab].sh_entsize = sizeof(Elf64_Sym);
  sections[kStrtab] = SectionOf(".strtab", SHT_STRTAB, 0, names_at, symbols.names.size());
  sections[kShstrtab] =
      SectionOf(".shstrtab", SHT_STRTAB, 0, section_names_at, kSectionNames.size());
  const std::uint64_t headers_at = image.Append(std::as_bytes(std::span(sections)));
  image.Put(HeaderFor(headers_at), 0);
  return std::move(image).Finish();
}

}  // namespace perftape::elf
