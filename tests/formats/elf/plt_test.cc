// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/plt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "formats/elf/symbols.h"
#include "tests/support/elf_builder.h"

namespace perftape::elf {
namespace {

using namespace std::string_literals;

constexpr std::uint64_t kPlt = 0x1020, kGot = 0x4000;

// A file whose .rela.plt fills kGot with memcpy, kGot + 8 with strlen, and kGot + 16 with the
// result of the resolver at 0x2000.
class PltTest : public testing::Test {
 protected:
  static std::string Rela(std::uint64_t slot, std::uint32_t symbol, std::uint32_t type,
                          std::int64_t addend = 0) {
    const Elf64_Rela rela = {slot, ELF64_R_INFO(symbol, type), addend};
    return {reinterpret_cast<const char*>(&rela), sizeof rela};
  }

  static std::string SymbolNumber(std::uint32_t name) {
    const Elf64_Sym symbol = {name, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, SHN_UNDEF, 0, 0};
    return {reinterpret_cast<const char*>(&symbol), sizeof symbol};
  }

  void AddRelocations(std::uint32_t jump_slot, std::uint32_t irelative) {
    elf_.AddSection({.name = ".dynstr",
                     .type = SHT_STRTAB,
                     .flags = SHF_ALLOC,
                     .contents = "\0memcpy\0strlen\0"s});
    const std::uint16_t symbols = elf_.AddSection(
        {.name = ".dynsym",
         .type = SHT_DYNSYM,
         .flags = SHF_ALLOC,
         .contents = std::string(sizeof(Elf64_Sym), '\0') + SymbolNumber(1) + SymbolNumber(8),
         .link = 1,
         .entry_size = sizeof(Elf64_Sym)});
    elf_.AddSection({.name = ".rela.plt",
                     .type = SHT_RELA,
                     .flags = SHF_ALLOC,
                     .contents = Rela(kGot, 1, jump_slot) + Rela(kGot + 8, 2, jump_slot) +
                                 Rela(kGot + 16, 0, irelative, 0x2000),
                     .link = symbols,
                     .entry_size = sizeof(Elf64_Rela)});
  }

  void AddCode(std::string name, std::string code, std::uint64_t entry_size = 16) {
    elf_.AddSection({.name = std::move(name),
                     .flags = SHF_ALLOC | SHF_EXECINSTR,
                     .address = kPlt,
                     .contents = std::move(code),
                     .entry_size = entry_size});
  }

  // Returns "name@address" of each entry.
  std::vector<std::string> Entries() {
    image_ = elf_.Build();
    const auto file = ElfFile::FromBytes(image_);
    std::vector<std::string> entries;
    for (const PltEntry& entry : ReadPlt(file.value())) {
      entries.push_back(std::string(entry.name) + "@" + std::to_string(entry.start.value - kPlt));
    }
    return entries;
  }

  // Returns ff 25 disp32: jmp *slot(%rip), at kPlt + `at`.
  static std::string Jump(std::uint64_t at, std::uint64_t slot) {
    const auto displacement = static_cast<std::int32_t>(slot - (kPlt + at + 6));
    return "\xff\x25" + std::string(reinterpret_cast<const char*>(&displacement), 4);
  }

  ElfBuilder elf_{ET_DYN};

 private:
  std::vector<std::byte> image_;
};

TEST_F(PltTest, NamesLazyEntriesBySlot) {
  AddRelocations(R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE);
  const std::string header = "\xff\x35\0\0\0\0\xff\x25\0\0\0\0\x0f\x1f\x40\0"s;
  AddCode(".plt", header + Jump(16, kGot + 8) + "\x68\1\0\0\0\xe9\0\0\0\0"s + Jump(32, kGot) +
                      "\x68\0\0\0\0\xe9\0\0\0\0"s);
  EXPECT_THAT(Entries(), testing::ElementsAre("strlen@16", "memcpy@32"));
}

TEST_F(PltTest, NamesEntriesWithIndirectBranchTracking) {
  AddRelocations(R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE);
  AddCode(".plt.sec", "\xf3\x0f\x1e\xfa"s + Jump(4, kGot) + std::string(6, '\x90') +
                          "\xf3\x0f\x1e\xfa\xf2"s + Jump(21, kGot + 8) + std::string(5, '\x90'));
  EXPECT_THAT(Entries(), testing::ElementsAre("memcpy@0", "strlen@16"));
}

TEST_F(PltTest, NamesEntriesThatOnlyPushTheNumberOfTheirRelocation) {
  AddRelocations(R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE);
  AddCode(".plt", "\xf3\x0f\x1e\xfa\x68\1\0\0\0\xf2\xe9\0\0\0\0\x90"s);
  EXPECT_THAT(Entries(), testing::ElementsAre("strlen@0"));
}

TEST_F(PltTest, NamesShortEntries) {
  AddRelocations(R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE);
  AddCode(".plt.got", Jump(0, kGot) + "\x66\x90" + Jump(8, kGot + 8) + "\x66\x90", 8);
  EXPECT_THAT(Entries(), testing::ElementsAre("memcpy@0", "strlen@8"));
}

// Returns code of machines with words of 4 bytes.
std::string Code(std::initializer_list<std::uint32_t> words) {
  std::string code;
  for (const std::uint32_t word : words) {
    code.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return code;
}

TEST_F(PltTest, NamesEntriesOfArm64BehindTheHeader) {
  elf_ = ElfBuilder(ET_DYN, EM_AARCH64);
  AddRelocations(R_AARCH64_JUMP_SLOT, R_AARCH64_IRELATIVE);
  // adrp x16, 0x4000; ldr x17, [x16, #slot]; add x16, x16, #slot; br x17
  const std::string header = Code({0xa9bf7bf0, 0xf0000010, 0xf947fe11, 0x913fe210, 0xd61f0220,
                                   0xd503201f, 0xd503201f, 0xd503201f});
  AddCode(".plt", header + Code({0xf0000010, 0xf9400611, 0x91002210, 0xd61f0220}) +
                      Code({0xf0000010, 0xf9400211, 0x91000210, 0xd61f0220}));
  EXPECT_THAT(Entries(), testing::ElementsAre("strlen@32", "memcpy@48"));
}

TEST_F(PltTest, NamesEntriesOfArm64WithBranchTargets) {
  elf_ = ElfBuilder(ET_DYN, EM_AARCH64);
  AddRelocations(R_AARCH64_JUMP_SLOT, R_AARCH64_IRELATIVE);
  // With bti c at the start, autia1716 or a nop at the end: 24 bytes.
  AddCode(".plt",
          Code({0xd503245f, 0xf0000010, 0xf9400211, 0x91000210, 0xd61f0220, 0xd503201f}) +
              Code({0xd503245f, 0xf0000010, 0xf9400611, 0x91002210, 0xd61f0220, 0xd503201f}));
  EXPECT_THAT(Entries(), testing::ElementsAre("memcpy@0", "strlen@24"));
}

TEST_F(PltTest, NamesEntriesOfArmAsGnuLdWritesThemAndAsLldDoes) {
  elf_ = ElfBuilder(ET_DYN, EM_ARM);
  AddRelocations(R_ARM_JUMP_SLOT, R_ARM_IRELATIVE);
  // add ip, pc, #0; add ip, ip, #0x2000; ldr pc, [ip, #slot]!, the second one for Thumb callers
  AddCode(".plt", Code({0xe28fc600, 0xe28cca02, 0xe5bcffd8}) +
                      Code({0x46c04778, 0xe28fc600, 0xe28cca02, 0xe5bcffd0}) +
                      // ldr ip, [pc, #4]; add ip, ip, pc; ldr pc, [ip]; the distance
                      Code({0xe59fc004, 0xe08cc00f, 0xe59cf000, 0x4000 - (kPlt + 28 + 12)}));
  EXPECT_THAT(Entries(), testing::ElementsAre("memcpy@0", "strlen@12", "memcpy@28"));
}

TEST_F(PltTest, NamesEntriesOfRiscv) {
  elf_ = ElfBuilder(ET_DYN, EM_RISCV);
  AddRelocations(R_RISCV_JUMP_SLOT, R_RISCV_IRELATIVE);
  // auipc t3, 0x3; ld t3, slot(t3); jalr t1, t3; nop
  AddCode(".plt", std::string(32, '\0') + Code({0x00003e17, 0xfc0e3e03, 0x000e0367, 0x13}) +
                      Code({0x00003e17, 0xfb8e3e03, 0x000e0367, 0x13}));
  EXPECT_THAT(Entries(), testing::ElementsAre("memcpy@32", "strlen@48"));
}

TEST_F(PltTest, NamesEntriesOfS390x) {
  elf_ = ElfBuilder(ET_DYN, EM_S390);
  AddRelocations(R_390_JMP_SLOT, R_390_IRELATIVE);
  // larl %r1, slot; lg %r1, 0(%r1); br %r1; ...
  const std::string rest = "\xe3\x10\x10\0\0\x04\x07\xf1"s + std::string(18, '\x07');
  AddCode(".plt", "\xc0\x10\0\0\x17\xf0"s + rest + "\xc0\x10\0\0\x17\xe4"s + rest, 32);
  EXPECT_THAT(Entries(), testing::ElementsAre("memcpy@0", "strlen@32"));
}

TEST_F(PltTest, NamesEntriesOfI386ByAddressByTableAndByRelocation) {
  elf_ = ElfBuilder(ET_DYN, EM_386);
  AddRelocations(R_386_JMP_SLOT, R_386_IRELATIVE);
  elf_.AddSection({.name = ".got.plt", .flags = SHF_ALLOC, .address = 0x3ff4, .size = 0x20});
  AddCode(".plt",
          "\xff\x25\x08\x40\0\0\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
          "\xff\xa3\x0c\0\0\0\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90"
          "\xf3\x0f\x1e\xfb\x68\x08\0\0\0\xe9\0\0\0\0\x66\x90"s);
  EXPECT_THAT(Entries(), testing::ElementsAre("strlen@0", "memcpy@16", "strlen@32"));
}

TEST_F(PltTest, ResolvesAnIndirectFunctionByResolverAndTable) {
  AddRelocations(R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE);
  AddCode(".plt", Jump(0, kGot + 16) + std::string(10, '\x90'));
  const std::uint16_t text = elf_.AddSection(
      {.name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR, .address = 0x2000, .size = 0x100});
  elf_.AddSymbol(
      {.name = "__strchr", .value = 0x2000, .size = 16, .section = text, .type = STT_GNU_IFUNC});
  elf_.AddSymbol(
      {.name = "strchr", .value = 0x2000, .size = 16, .section = text, .type = STT_GNU_IFUNC});
  const std::vector<std::byte> image = elf_.Build();
  const auto file = ElfFile::FromBytes(image);
  ASSERT_TRUE(file);
  ASSERT_EQ(ReadPlt(*file).size(), 1U);
  EXPECT_EQ(ReadPlt(*file)[0].resolver, ImageAddress{0x2000});
  EXPECT_EQ(SymbolTable::Read(*file).Find({kPlt + 3})->name, "strchr@plt");
}

TEST_F(PltTest, LeavesOutEntriesWhoseSlotNothingFills) {
  AddRelocations(R_X86_64_JUMP_SLOT, R_X86_64_IRELATIVE);
  AddCode(".plt", Jump(0, 0x7777) + std::string(10, '\x90') + "\x68\x63\0\0\0"s +
                      std::string(11, '\0') + std::string(7, '\xff'));
  EXPECT_THAT(Entries(), testing::IsEmpty());
}

}  // namespace
}  // namespace perftape::elf
