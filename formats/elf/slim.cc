// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/slim.h"

#include <elfutils/version.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "formats/elf/elf_file.h"
#include "formats/elf/library_versions.h"

namespace perftape::elf {
namespace {

// A libelf handle over an ElfFile. `elf` is null if libelf rejects the file. The file must outlive
// the handle.
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

// Pieces at most this far apart are joined, including the bytes between them. More than
// kOffsetUnit, so that separate pieces never need more bytes than in the original.
constexpr std::uint64_t kNear = 64;
// The new offset of a piece differs from the old one by a multiple of this, which preserves
// alignment.
constexpr std::uint64_t kOffsetUnit = 16;
// The linkage table keeps its offset unless the hole before it would be larger than this. (In
// libLLVM, 9 MB of relocations are before it.) perf up to 6.2 uses the file offset of the section
// as the address of the table's entries (tools/perf/util/symbol-elf.c,
// dso__synthesize_plt_symbols).
constexpr std::uint64_t kLargestHole = std::uint64_t{16} << 20;
constexpr std::uint64_t kLargestNote = std::uint64_t{64} << 10;
constexpr GElf_Word kArmExidx = 0x70000001;  // SHT_ARM_EXIDX and PT_ARM_EXIDX

// The offsets of changed fields in the headers (elf(5)).
struct FieldOffsets {
  std::size_t header_programs, header_sections;
  std::size_t program_offset, program_file_size;
  std::size_t section_type, section_flags, section_offset, section_size;
};
constexpr FieldOffsets kFields64 = {32, 40, 8, 32, 4, 8, 24, 32};
constexpr FieldOffsets kFields32 = {28, 32, 4, 16, 4, 8, 16, 20};

// The range [start, end) of the original, and its new offset.
struct Piece {
  std::uint64_t start = 0, end = 0;
  bool stays = false;  // keeps its offset if possible
  std::uint64_t new_offset = 0;
};

// The bytes that are kept, and the mapping from old to new offsets.
class Pieces {
 public:
  void Keep(std::uint64_t start, std::uint64_t size) {
    if (size > 0) pieces_.push_back({.start = start, .end = start + size});
  }
  void KeepOffset(std::uint64_t start, std::uint64_t size) {
    if (size > 0) pieces_.push_back({.start = start, .end = start + size, .stays = true});
  }

  // Joins nearby pieces and assigns the new offsets. Returns the total size.
  std::uint64_t AssignOffsets() {
    std::ranges::sort(pieces_, {}, &Piece::start);
    std::vector<Piece> joined;
    for (const Piece& piece : pieces_) {
      if (!joined.empty() && piece.start <= joined.back().end + kNear) {
        joined.back().end = std::max(joined.back().end, piece.end);
        joined.back().stays |= piece.stays;
      } else {
        joined.push_back(piece);
      }
    }
    pieces_ = std::move(joined);
    std::uint64_t end = 0;
    for (Piece& piece : pieces_) {
      const bool stays = piece.stays && piece.start - end <= kLargestHole;
      piece.new_offset = stays ? piece.start : end + (piece.start - end) % kOffsetUnit;
      end = piece.new_offset + (piece.end - piece.start);
    }
    return end;
  }

  // Returns nothing unless the whole range is kept.
  std::optional<std::uint64_t> NewOffsetOf(std::uint64_t start, std::uint64_t size) const {
    auto piece = std::ranges::upper_bound(pieces_, start, {}, &Piece::start);
    if (piece == pieces_.begin()) return std::nullopt;
    --piece;
    if (start > piece->end || size > piece->end - start) return std::nullopt;
    return piece->new_offset + (start - piece->start);
  }

  const std::vector<Piece>& all() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;
};

enum class Action : std::uint8_t { kDrop, kKeep, kKeepSlots, kKeepPart };

struct SlimSection {
  GElf_Shdr header = {};
  std::string_view name;
  Action action = Action::kDrop;
  std::uint64_t kept_size = 0;
  std::vector<std::byte> slots;  // the new content if the action is kKeepSlots
};

bool IsFor(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

constexpr std::array<std::string_view, 14> kKeptNames = {".eh_frame",
                                                         ".eh_frame_hdr",
                                                         ".debug_frame",
                                                         ".zdebug_frame",
                                                         ".gnu_debugdata",
                                                         ".gnu_debuglink",
                                                         ".gnu_debugaltlink",
                                                         ".gopclntab",
                                                         ".ARM.extab",
                                                         ".interp",
                                                         ".opd",
                                                         ".go.buildinfo",
                                                         ".iplt",
                                                         ".data.rel.ro.gopclntab"};
constexpr std::array<std::string_view, 5> kKeptBeginnings = {".plt", ".got", ".rela.plt",
                                                             ".rel.plt", ".gnu.version"};

class Slimmer {
 public:
  Slimmer(const ElfFile& file, const LibelfHandle& handle, const SlimOptions& options)
      : file_(file),
        handle_(handle),
        options_(options),
        image_(handle.image),
        is_64_(gelf_getclass(handle.elf) == ELFCLASS64),
        order_(handle.header.e_ident[EI_DATA] == ELFDATA2MSB ? std::endian::big
                                                             : std::endian::little),
        fields_(is_64_ ? kFields64 : kFields32) {}

  std::optional<std::vector<std::byte>> Copy() {
    if (handle_.header.e_type == ET_REL || !ReadSections() || !ReadPrograms()) return std::nullopt;
    if (!ChooseActions()) return std::nullopt;
    KeepHeaders();
    const std::uint64_t size = pieces_.AssignOffsets();
    if (size >= image_.size() || size > options_.limit) return std::nullopt;
    out_.resize(size);
    for (const Piece& piece : pieces_.all()) {
      std::memcpy(&out_[piece.new_offset], &image_[piece.start], piece.end - piece.start);
    }
    WriteSlots();
    ClearAroundParts();
    PatchHeader();
    PatchPrograms();
    PatchSections();
    return std::move(out_);
  }

 private:
  bool IsInFile(std::uint64_t start, std::uint64_t size) const {
    return start <= image_.size() && size <= image_.size() - start;
  }

  bool ReadSections() {
    std::size_t count = 0, names = 0;
    if (elf_getshdrnum(handle_.elf, &count) != 0 || count <= 1) return false;
    if (elf_getshdrstrndx(handle_.elf, &names) != 0) return false;
    if (handle_.header.e_shentsize != (is_64_ ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr))) {
      return false;
    }
    if (!IsInFile(handle_.header.e_shoff, count * handle_.header.e_shentsize)) return false;
    sections_.resize(count);
    names_ = names;
    for (std::size_t i = 0; i < count; ++i) {
      SlimSection& section = sections_[i];
      Elf_Scn* const scn = elf_getscn(handle_.elf, i);
      if (scn == nullptr || gelf_getshdr(scn, &section.header) == nullptr) return false;
      // Not elf_strptr, which looks for the end of the names in all of their section each time.
      if (i < file_.sections().size()) section.name = file_.sections()[i].name;
      if (section.name.starts_with(".got") && got_.size() < symbol_limits::kSameSections) {
        got_.push_back(section.header);
      }
    }
    return true;
  }

  bool ReadPrograms() {
    std::size_t count = 0;
    if (elf_getphdrnum(handle_.elf, &count) != 0) return false;
    if (count == 0) return true;
    if (handle_.header.e_phentsize != (is_64_ ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))) {
      return false;
    }
    if (!IsInFile(handle_.header.e_phoff, count * handle_.header.e_phentsize)) return false;
    programs_.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (gelf_getphdr(handle_.elf, static_cast<int>(i), &programs_[i]) == nullptr) return false;
    }
    return true;
  }

  // False if sections name more bytes than one file may cost.
  bool ChooseActions() {
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      SlimSection& section = sections_[i];
      if (!HasBytes(section)) continue;
      section.action = ActionFor(section);
      if (i == names_) section.action = Action::kKeep;
    }
    for (const SlimSection& section : sections_) {
      const bool has_strings = section.header.sh_type == SHT_SYMTAB ||
                               section.header.sh_type == SHT_DYNSYM ||
                               section.header.sh_type == SHT_DYNAMIC;
      if (!has_strings || section.header.sh_link >= sections_.size()) continue;
      SlimSection& strings = sections_[section.header.sh_link];
      if (HasBytes(strings)) strings.action = Action::kKeep;
    }
    for (SlimSection& section : sections_) {
      if (section.action == Action::kDrop) continue;
      section.kept_size = section.header.sh_size;
      if (section.action == Action::kKeepPart || section.action == Action::kKeepSlots) {
        if (section.kept_size > bytes_to_read_) return false;
        bytes_to_read_ -= section.kept_size;
      }
      if (section.action == Action::kKeepSlots) {
        section.slots = CollectSlots(section);
        section.kept_size = section.slots.size();
      }
      if ((section.header.sh_flags & SHF_EXECINSTR) != 0) {
        pieces_.KeepOffset(section.header.sh_offset, section.kept_size);
      } else {
        pieces_.Keep(section.header.sh_offset, section.kept_size);
      }
    }
    return true;
  }

  bool HasBytes(const SlimSection& section) const {
    return section.header.sh_type != SHT_NOBITS && section.header.sh_type != SHT_NULL &&
           IsInFile(section.header.sh_offset, section.header.sh_size);
  }

  Action ActionFor(const SlimSection& section) const {
    const GElf_Shdr& header = section.header;
    const std::string_view name = section.name;
    switch (header.sh_type) {
      case SHT_SYMTAB:
      case SHT_DYNSYM:
      case SHT_SYMTAB_SHNDX:
      case SHT_DYNAMIC:
      case kArmExidx:
        return Action::kKeep;
      case SHT_NOTE:
        return header.sh_size <= kLargestNote ? Action::kKeep : Action::kDrop;
      default:
        break;
    }
    if (IsFor(name, kKeptNames) ||
        std::ranges::any_of(kKeptBeginnings, [&](auto it) { return name.starts_with(it); })) {
      return Action::kKeep;
    }
    const bool is_relocation = header.sh_type == SHT_RELA || header.sh_type == SHT_REL;
    if (is_relocation && (header.sh_flags & SHF_ALLOC) != 0) {
      return header.sh_size <= options_.limit ? Action::kKeepSlots : Action::kDrop;
    }
    const bool is_dwarf = name.starts_with(".debug_") || name.starts_with(".zdebug_");
    if (is_dwarf && options_.dwarf == SlimDwarf::kKeep) return Action::kKeep;
    const bool is_asked_for = std::ranges::any_of(
        options_.also, [&](const FileRange& range) { return Overlap(range, header).size > 0; });
    return is_asked_for ? Action::kKeepPart : Action::kDrop;
  }

  static FileRange Overlap(const FileRange& range, const GElf_Shdr& header) {
    if (range.start.value >= header.sh_offset + header.sh_size) return {};
    const std::uint64_t start = std::max(range.start.value, header.sh_offset);
    const std::uint64_t skipped = start - range.start.value;
    if (skipped >= range.size) return {};
    return {{start}, std::min(range.size - skipped, header.sh_offset + header.sh_size - start)};
  }

  // Returns the relocations of a section that fill slots of .got*, which name the targets of the
  // linkage table's entries. Most relocations of a section are for pointers in data and are
  // dropped.
  std::vector<std::byte> CollectSlots(const SlimSection& section) const {
    std::vector<std::byte> kept;
    const std::size_t word = is_64_ ? 8 : 4;
    const std::size_t size = section.header.sh_type == SHT_RELA ? 3 * word : 2 * word;
    Bytes rest = image_.subspan(section.header.sh_offset, section.header.sh_size);
    for (; rest.size() >= size; rest = rest.subspan(size)) {
      const std::uint64_t slot = LoadWord(rest.data());
      if (!IsInGot(slot) && !IsInAlso(slot)) continue;
      kept.insert(kept.end(), rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size));
    }
    return kept;
  }

  // The ranges of `also` may contain addresses that only their relocations provide.
  bool IsInAlso(std::uint64_t address) const {
    if (options_.also.empty()) return false;
    for (const SlimSection& section : sections_) {
      const GElf_Shdr& header = section.header;
      if (header.sh_addr == 0 || !HasBytes(section) || address < header.sh_addr) continue;
      const std::uint64_t distance = address - header.sh_addr;
      if (distance >= header.sh_size) continue;
      const std::uint64_t offset = header.sh_offset + distance;
      return std::ranges::any_of(options_.also, [&](const FileRange& range) {
        return offset >= range.start.value && offset - range.start.value < range.size;
      });
    }
    return false;
  }

  bool IsInGot(std::uint64_t address) const {
    return std::ranges::any_of(got_, [&](const GElf_Shdr& section) {
      return address >= section.sh_addr && address - section.sh_addr < section.sh_size;
    });
  }

  void KeepHeaders() {
    const GElf_Ehdr& header = handle_.header;
    pieces_.Keep(0, is_64_ ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr));
    pieces_.Keep(header.e_phoff, programs_.size() * header.e_phentsize);
    pieces_.Keep(header.e_shoff, sections_.size() * header.e_shentsize);
    for (const GElf_Phdr& program : programs_) {
      const bool is_small_note = program.p_type == PT_NOTE && program.p_filesz <= kLargestNote;
      if (is_small_note && IsInFile(program.p_offset, program.p_filesz)) {
        pieces_.Keep(program.p_offset, program.p_filesz);
      }
    }
  }

  void WriteSlots() {
    for (const SlimSection& section : sections_) {
      if (section.slots.empty()) continue;
      const auto new_offset = pieces_.NewOffsetOf(section.header.sh_offset, section.kept_size);
      if (new_offset) std::memcpy(&out_[*new_offset], section.slots.data(), section.slots.size());
    }
  }

  void ClearAroundParts() {
    for (const SlimSection& section : sections_) {
      const std::uint64_t start = section.header.sh_offset, size = section.header.sh_size;
      const auto new_offset = pieces_.NewOffsetOf(start, size);
      if (section.action != Action::kKeepPart || !new_offset) continue;
      std::fill_n(out_.begin() + static_cast<std::ptrdiff_t>(*new_offset), size, std::byte{});
      for (const FileRange& range : options_.also) {
        const FileRange part = Overlap(range, section.header);
        if (part.size == 0) continue;
        std::memcpy(&out_[*new_offset + (part.start.value - start)], &image_[part.start.value],
                    part.size);
      }
    }
  }

  void PatchHeader() {
    const GElf_Ehdr& header = handle_.header;
    const auto programs = pieces_.NewOffsetOf(header.e_phoff, 0);
    if (!programs_.empty() && programs) StoreWord(fields_.header_programs, *programs);
    if (const auto sections = pieces_.NewOffsetOf(header.e_shoff, 0)) {
      StoreWord(fields_.header_sections, *sections);
    }
  }

  // Updates the segments that readers find through their program header. PT_LOAD and others that
  // only describe memory are unchanged.
  void PatchPrograms() {
    if (programs_.empty()) return;
    const std::uint64_t table = *pieces_.NewOffsetOf(handle_.header.e_phoff, 0);
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      const GElf_Phdr& program = programs_[i];
      if (!IsReadByProgramHeader(program.p_type)) continue;
      const std::uint64_t at = table + i * handle_.header.e_phentsize;
      if (const auto new_offset = pieces_.NewOffsetOf(program.p_offset, program.p_filesz)) {
        StoreWord(at + fields_.program_offset, *new_offset);
      } else {
        StoreWord(at + fields_.program_file_size, 0);
      }
    }
  }

  static bool IsReadByProgramHeader(GElf_Word type) {
    constexpr GElf_Word kGnuProperty = 0x6474e553;
    return type == PT_NOTE || type == PT_DYNAMIC || type == PT_INTERP || type == PT_PHDR ||
           type == PT_GNU_EH_FRAME || type == kGnuProperty || type == kArmExidx;
  }

  void PatchSections() {
    const std::uint64_t table = *pieces_.NewOffsetOf(handle_.header.e_shoff, 0);
    for (std::size_t i = 1; i < sections_.size(); ++i) {
      const SlimSection& section = sections_[i];
      if (!HasBytes(section)) continue;  // no bytes in the original either
      const std::uint64_t at = table + i * handle_.header.e_shentsize;
      if (section.action != Action::kDrop) {
        const auto new_offset = pieces_.NewOffsetOf(section.header.sh_offset, section.kept_size);
        StoreWord(at + fields_.section_offset, new_offset.value_or(0));
        StoreWord(at + fields_.section_size, section.kept_size);
      } else if ((section.header.sh_flags & SHF_ALLOC) != 0) {
        Store<std::uint32_t>(at + fields_.section_type, SHT_NOBITS);
      } else {
        Store<std::uint32_t>(at + fields_.section_type, SHT_NULL);
        StoreWord(at + fields_.section_flags, 0);
        StoreWord(at + fields_.section_offset, 0);
        StoreWord(at + fields_.section_size, 0);
      }
    }
  }

  std::uint64_t LoadWord(const std::byte* from) const {
    return is_64_ ? LoadFixed<std::uint64_t>(from, order_) : LoadFixed<std::uint32_t>(from, order_);
  }

  void StoreWord(std::uint64_t at, std::uint64_t value) {
    if (is_64_) {
      Store(at, value);
    } else {
      Store(at, static_cast<std::uint32_t>(value));
    }
  }

  template <class T>
  void Store(std::uint64_t at, T value) {
    if (order_ != std::endian::native) value = std::byteswap(value);
    std::memcpy(&out_[at], &value, sizeof value);
  }

  const ElfFile& file_;
  const LibelfHandle& handle_;
  const SlimOptions& options_;
  std::uint64_t bytes_to_read_ = symbol_limits::kSymbolTables;  // of relocations and parts
  Bytes image_;
  bool is_64_;
  std::endian order_;
  const FieldOffsets& fields_;
  std::size_t names_ = 0;  // index of the section of section names
  std::vector<SlimSection> sections_;
  std::vector<GElf_Shdr> got_;
  std::vector<GElf_Phdr> programs_;
  Pieces pieces_;
  std::vector<std::byte> out_;
};

}  // namespace

std::optional<std::vector<std::byte>> SlimCopy(const ElfFile& file, const SlimOptions& options) {
  // libelf allocates memory for as many sections as the header claims.
  if (file.header().section_count > symbol_limits::kElfHeaders) return std::nullopt;
  const LibelfHandle handle(file);
  if (handle.elf == nullptr) return std::nullopt;
  std::optional<std::vector<std::byte>> copy = Slimmer(file, handle, options).Copy();
  if (!copy) return std::nullopt;
  // If parts of a file overlap, a change of one changes the other. The build id detects that.
  const Result<ElfFile> opened = ElfFile::FromBytes(*copy);
  if (!opened || opened->build_id() != file.build_id()) return std::nullopt;
  return copy;
}

LibraryVersion LibelfVersion() {
  return {.name = "libelf",
          .version = std::to_string(_ELFUTILS_VERSION / 1000) + "." +
                     std::to_string(_ELFUTILS_VERSION % 1000)};
}

}  // namespace perftape::elf
