// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/plt.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "formats/elf/libelf_handle.h"

namespace perftape::elf {
namespace {

// What a relocation puts into a slot of the global offset table.
struct Slot {
  std::uint64_t address = 0;
  std::string_view name;
  std::uint64_t resolver = 0;
};

struct Slots {
  std::vector<Slot> by_address;
  std::vector<Slot> jumps;  // of .rela.plt, in its order
};

bool FillsASlot(GElf_Half machine, std::uint64_t type) {
  if (machine == EM_X86_64) {
    return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_IRELATIVE;
  }
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_IRELATIVE;
}

std::string_view NameOf(const ElfFile::Handle& handle, Elf_Data* symbols,
                        const GElf_Shdr& symbols_header, std::uint64_t index) {
  GElf_Sym symbol;
  if (index == 0 || gelf_getsym(symbols, static_cast<int>(index), &symbol) == nullptr) return {};
  const char* name = elf_strptr(handle.elf, symbols_header.sh_link, symbol.st_name);
  return name == nullptr ? std::string_view() : std::string_view(name);
}

void ReadRelocations(const ElfFile::Handle& handle, Elf_Scn* section, const GElf_Shdr& header,
                     Slots& slots) {
  Elf_Scn* symbol_section = elf_getscn(handle.elf, header.sh_link);
  GElf_Shdr symbol_header = {};
  Elf_Data* symbols = nullptr;
  if (symbol_section != nullptr && gelf_getshdr(symbol_section, &symbol_header) != nullptr &&
      symbol_header.sh_type == SHT_DYNSYM) {
    symbols = elf_getdata(symbol_section, nullptr);
  }
  Elf_Data* relocations = elf_getdata(section, nullptr);
  if (relocations == nullptr) return;

  const char* section_name = elf_strptr(handle.elf, handle.header.e_shstrndx, header.sh_name);
  const bool is_plt = section_name != nullptr && std::string_view(section_name) == ".rela.plt";
  GElf_Rela rela;
  for (int i = 0; gelf_getrela(relocations, i, &rela) != nullptr; ++i) {
    if (!FillsASlot(handle.header.e_machine, GELF_R_TYPE(rela.r_info))) continue;
    Slot slot;
    slot.address = rela.r_offset;
    if (symbols != nullptr) {
      slot.name = NameOf(handle, symbols, symbol_header, GELF_R_SYM(rela.r_info));
    }
    if (slot.name.empty()) slot.resolver = static_cast<std::uint64_t>(rela.r_addend);
    slots.by_address.push_back(slot);
    if (is_plt) slots.jumps.push_back(slot);
  }
}

Slots ReadSlots(const ElfFile::Handle& handle) {
  Slots slots;
  ForEachSection(handle, [&](Elf_Scn* section, const GElf_Shdr& header) {
    if (header.sh_type == SHT_RELA && IsLoaded(header)) {
      ReadRelocations(handle, section, header, slots);
    }
  });
  std::ranges::stable_sort(slots.by_address, {}, &Slot::address);
  return slots;
}

const Slot* FindSlot(const Slots& slots, std::uint64_t address) {
  const auto found = std::ranges::lower_bound(slots.by_address, address, {}, &Slot::address);
  return found != slots.by_address.end() && found->address == address ? &*found : nullptr;
}

// One x86-64 entry: [endbr64] [bnd] jmp *slot(%rip), or in a lazy .plt with IBT
// endbr64; push $number of its relocation; jmp to the first entry.
const Slot* SlotOfX86Entry(Bytes code, std::uint64_t address, const Slots& slots) {
  ByteReader at(code, std::endian::little);
  const auto rest_starts_with = [&](std::string_view bytes) {
    const Bytes rest = code.subspan(code.size() - at.remaining());
    return AsText(rest).starts_with(bytes);
  };
  const auto skip = [&](std::string_view bytes) {
    if (rest_starts_with(bytes)) at.Padding(bytes.size());
  };
  skip("\xf3\x0f\x1e\xfa");  // endbr64
  skip("\xf2");              // bnd
  if (rest_starts_with("\xff\x25")) {
    std::int32_t displacement = 0;
    at.Padding(2);
    at.Fixed(displacement);
    if (!at.ok()) return nullptr;
    const std::uint64_t next = address + (code.size() - at.remaining());
    return FindSlot(slots, next + static_cast<std::uint64_t>(std::int64_t{displacement}));
  }
  if (rest_starts_with("\x68")) {
    std::uint32_t number = 0;
    at.Padding(1);
    at.Fixed(number);
    if (at.ok() && number < slots.jumps.size()) return &slots.jumps[number];
  }
  return nullptr;
}

void Add(std::vector<PltEntry>& entries, std::uint64_t address, std::uint64_t size,
         const Slot* slot) {
  if (slot == nullptr) return;
  entries.push_back({{address}, size, slot->name, {slot->resolver}});
}

void ReadX86Entries(Bytes code, std::uint64_t address, std::uint64_t entry_size, const Slots& slots,
                    std::vector<PltEntry>& entries) {
  for (std::uint64_t at = 0; at + entry_size <= code.size(); at += entry_size) {
    const Bytes entry = code.subspan(at, entry_size);
    Add(entries, address + at, entry_size, SlotOfX86Entry(entry, address + at, slots));
  }
}

// arm64: two entries' worth of header, then one entry of 16 bytes for each relocation of .rela.plt.
void ReadArmEntries(Bytes code, std::uint64_t address, const Slots& slots,
                    std::vector<PltEntry>& entries) {
  constexpr std::uint64_t kHeaderSize = 32, kEntrySize = 16;
  for (std::size_t i = 0; i < slots.jumps.size(); ++i) {
    const std::uint64_t at = kHeaderSize + i * kEntrySize;
    if (at + kEntrySize > code.size()) return;
    Add(entries, address + at, kEntrySize, &slots.jumps[i]);
  }
}

}  // namespace

std::vector<PltEntry> ReadPlt(const ElfFile& file) {
  std::vector<PltEntry> entries;
  const ElfFile::Handle& handle = file.handle();
  const GElf_Half machine = handle.header.e_machine;
  if (machine != EM_X86_64 && machine != EM_AARCH64) return entries;

  const Slots slots = ReadSlots(handle);
  if (slots.by_address.empty()) return entries;
  ForEachSection(handle, [&](Elf_Scn* section, const GElf_Shdr& header) {
    const char* name = elf_strptr(handle.elf, handle.header.e_shstrndx, header.sh_name);
    if (name == nullptr || !IsLoaded(header)) return;
    const std::string_view section_name = name;
    if (section_name != ".plt" && section_name != ".plt.sec" && section_name != ".plt.got") return;
    const Elf_Data* contents = elf_rawdata(section, nullptr);
    if (contents == nullptr || contents->d_buf == nullptr) return;
    const Bytes code(static_cast<const std::byte*>(contents->d_buf), contents->d_size);
    if (machine == EM_AARCH64) {
      if (section_name == ".plt") ReadArmEntries(code, header.sh_addr, slots, entries);
      return;
    }
    // Entries of .plt.got have 8 bytes without IBT; lld leaves sh_entsize 0.
    const bool is_short = section_name == ".plt.got" && header.sh_entsize == 8;
    ReadX86Entries(code, header.sh_addr, is_short ? 8 : 16, slots, entries);
  });
  return entries;
}

}  // namespace perftape::elf
