// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/plt.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "formats/base/symbol_limits.h"
#include "formats/elf/plt_code.h"
#include "formats/elf/symbol_entries.h"

namespace perftape::elf {
namespace {

// A slot of the global offset table, and the relocation that fills it.
struct Slot {
  std::uint64_t address = 0;
  std::string_view name = {};
  std::uint64_t resolver = 0;
};

struct Slots {
  std::vector<Slot> by_address;
  std::vector<Slot> jumps;  // of .rela.plt, in its order
};

// The types of the relocations that fill slots.
struct SlotTypes {
  std::uint16_t machine;
  std::uint32_t jump_slot, glob_dat, irelative;
  std::uint32_t relative;  // fills none
};

// i386, arm, s390x: R_*_JMP_SLOT and so on; RISC-V has R_RISCV_64 for GLOB_DAT.
constexpr std::array<SlotTypes, 6> kSlotTypes = {
    {{EM_X86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE, R_X86_64_RELATIVE},
     {EM_386, R_386_JMP_SLOT, R_386_GLOB_DAT, R_386_IRELATIVE, R_386_RELATIVE},
     {EM_AARCH64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE, R_AARCH64_RELATIVE},
     {EM_ARM, R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, R_ARM_IRELATIVE, R_ARM_RELATIVE},
     {EM_RISCV, R_RISCV_JUMP_SLOT, R_RISCV_64, R_RISCV_IRELATIVE, R_RISCV_RELATIVE},
     {EM_S390, R_390_JMP_SLOT, R_390_GLOB_DAT, R_390_IRELATIVE, R_390_RELATIVE}}};

struct Relocation {
  std::uint64_t address = 0;
  std::uint32_t symbol = 0;
  std::optional<std::uint64_t> addend;  // without one, the value at the address
};

// Elf64_Rela { u64 offset; u64 info = symbol << 32 | type; s64 addend; }
// Elf32_Rela { u32 offset; u32 info = symbol << 8 | type; s32 addend; }; Rel has no addend.
Relocation DecodeRelocation(FieldReader at, std::uint32_t section_type) {
  Relocation relocation;
  std::uint64_t info = 0, addend = 0;
  at.Word(relocation.address);
  at.Word(info);
  if (section_type == SHT_RELA) {
    at.Word(addend);
    relocation.addend = addend;
  }
  relocation.symbol = static_cast<std::uint32_t>(at.is_64() ? info >> 32 : info >> 8);
  return relocation;
}

// Reads the word at `address` from the bytes of the file.
std::uint64_t WordAt(const ElfFile& file, std::uint64_t address) {
  std::uint64_t word = 0;
  const auto offset = file.ToFile({address});
  if (!offset || offset->value >= file.image().size()) return 0;
  FieldReader(file.image().subspan(offset->value), file.header()).Word(word);
  return word;
}

class SlotReader {
 public:
  SlotReader(const ElfFile& file, const SlotTypes& types)
      : file_(file), types_(types), relatives_(CountOfRelatives()) {}

  void Read(const Section& section) {
    const bool is_64 = file_.header().is_64;
    const std::size_t words = section.type == SHT_RELA ? 3 : 2;
    const std::size_t stride = words * (is_64 ? 8 : 4);
    const bool is_plt = section.name == ".rela.plt" || section.name == ".rel.plt";
    const bool has_symbols = section.link < file_.sections().size();
    const SymbolEntries symbols(file_, has_symbols ? file_.sections()[section.link] : Section{});
    const std::size_t info_at = is_64 ? 8 : 4;
    Bytes rest = file_.RawBytes(section);
    if (rest.size() > left_) return;
    left_ -= rest.size();
    // The linker writes the relative relocations first, and their number into .dynamic. A slim copy
    // has fewer than that number.
    if (relatives_ != 0 && relatives_ <= rest.size() / stride &&
        TypeAt(rest.data() + (relatives_ - 1) * stride + info_at) == types_.relative) {
      rest = rest.subspan(relatives_ * stride);
    }
    for (; rest.size() >= stride; rest = rest.subspan(stride)) {
      if (!FillsASlot(TypeAt(rest.data() + info_at))) continue;
      const Relocation relocation =
          DecodeRelocation({rest.first(stride), file_.header()}, section.type);
      const Slot slot = SlotOf(relocation, symbols);
      slots_.by_address.push_back(slot);
      if (is_plt) slots_.jumps.push_back(slot);
    }
  }

  Slots Finish() && {
    std::ranges::stable_sort(slots_.by_address, {}, &Slot::address);
    return std::move(slots_);
  }

 private:
  // Reads .dynamic, whose entries are { word tag, value; }.
  std::uint64_t CountOfRelatives() const {
    for (const Section& section : file_.sections()) {
      if (section.type != SHT_DYNAMIC) continue;
      constexpr std::size_t kMostBytes = 64 << 10;  // usual are some dozen entries
      const Bytes entries = file_.RawBytes(section);
      FieldReader at(entries.first(std::min(entries.size(), kMostBytes)), file_.header());
      while (at.remaining() != 0) {
        std::uint64_t tag = 0, value = 0;
        at.Word(tag);
        at.Word(value);
        if (tag == DT_RELACOUNT || tag == DT_RELCOUNT) return value;
      }
      break;
    }
    return 0;
  }

  // Reads only the type, because of a million relocations only some hundred are relevant.
  std::uint32_t TypeAt(const std::byte* info) const {
    const auto [is_64, order] = std::pair(file_.header().is_64, file_.header().order);
    if (!is_64) return LoadFixed<std::uint32_t>(info, order) & 0xff;
    return static_cast<std::uint32_t>(LoadFixed<std::uint64_t>(info, order));
  }

  bool FillsASlot(std::uint32_t type) const {
    return type == types_.jump_slot || type == types_.glob_dat || type == types_.irelative;
  }

  Slot SlotOf(const Relocation& relocation, const SymbolEntries& symbols) const {
    Slot slot = {.address = relocation.address};
    if (relocation.symbol != 0 && relocation.symbol < symbols.size()) {
      slot.name = symbols.NameOf(symbols[relocation.symbol]);
    }
    if (slot.name.empty()) {
      slot.resolver = relocation.addend ? *relocation.addend : WordAt(file_, relocation.address);
    }
    return slot;
  }

  const ElfFile& file_;
  const SlotTypes& types_;
  std::uint64_t relatives_;
  std::uint64_t left_ = symbol_limits::kSymbolTables;  // bytes that may still be read
  Slots slots_;
};

bool HoldsPltCode(const Section& section) {
  constexpr std::array<std::string_view, 4> kNames = {".plt", ".plt.sec", ".plt.got", ".iplt"};
  return section.is_loaded() && std::ranges::find(kNames, section.name) != kNames.end();
}

// Sections can name the same bytes again and again. Adds `section` to `read` if it is to be read.
bool IsRepeated(const Section& section, std::vector<const Section*>& read) {
  if (read.size() == symbol_limits::kSameSections) return true;
  const auto is_same = [&](const Section* other) {
    return other->offset == section.offset && other->address == section.address;
  };
  if (std::ranges::any_of(read, is_same)) return true;
  read.push_back(&section);
  return false;
}

// .rela.plt fills the slots of .plt. The other relocations of the file, perhaps a million, are read
// only if it has .plt.got or .iplt.
Slots ReadSlots(const ElfFile& file, const SlotTypes& types) {
  const bool has_others = std::ranges::any_of(file.sections(), [](const Section& section) {
    return HoldsPltCode(section) && (section.name == ".plt.got" || section.name == ".iplt");
  });
  SlotReader reader(file, types);
  std::vector<const Section*> read;
  for (const Section& section : file.sections()) {
    if (section.type != SHT_RELA && section.type != SHT_REL) continue;
    if (!section.is_loaded() || !(has_others || section.name.ends_with(".plt"))) continue;
    if (IsRepeated(section, read)) continue;
    reader.Read(section);
  }
  return std::move(reader).Finish();
}

const Slot* FindSlot(const Slots& slots, const PltJump& jump) {
  if (jump.relocation) {
    return *jump.relocation < slots.jumps.size() ? &slots.jumps[*jump.relocation] : nullptr;
  }
  const auto found = std::ranges::lower_bound(slots.by_address, jump.slot, {}, &Slot::address);
  return found != slots.by_address.end() && found->address == jump.slot ? &*found : nullptr;
}

std::uint64_t GlobalOffsetTable(const ElfFile& file) {
  for (const char* name : {".got.plt", ".got"}) {
    if (const Section* section = file.FindSection(name)) return section->address;
  }
  return 0;
}

}  // namespace

std::vector<PltEntry> ReadPlt(const ElfFile& file) {
  std::vector<PltEntry> entries;
  const auto types = std::ranges::find(kSlotTypes, file.header().machine, &SlotTypes::machine);
  if (types == kSlotTypes.end() || std::ranges::none_of(file.sections(), HoldsPltCode)) {
    return entries;
  }
  const Slots slots = ReadSlots(file, *types);
  std::vector<const Section*> read;
  for (const Section& section : file.sections()) {
    if (!HoldsPltCode(section) || IsRepeated(section, read)) continue;
    const Bytes code = file.RawBytes(section);
    const PltCode plt = {.code = code.first(std::min(code.size(), symbol_limits::kLinkageTable)),
                         .address = section.address,
                         .entry_size = section.entry_size,
                         .got = GlobalOffsetTable(file)};
    for (const PltJump& jump : FindPltJumps(plt, file.header())) {
      const Slot* slot = FindSlot(slots, jump);
      if (slot == nullptr) continue;
      entries.push_back({{section.address + jump.at}, jump.size, slot->name, {slot->resolver}});
    }
  }
  return entries;
}

}  // namespace perftape::elf
