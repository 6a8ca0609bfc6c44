// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/usdt_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/support/elf_builder.h"

namespace perftape::elf {
namespace {

using namespace std::string_literals;
using testing::IsEmpty;
using testing::SizeIs;

std::string Word(std::uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// As DTRACE_PROBE writes it.
std::string ProbeNote(std::uint64_t location, std::uint64_t base, std::uint64_t semaphore,
                      const std::string& texts) {
  return ElfNote("stapsdt\0"s, 3, Word(location) + Word(base) + Word(semaphore) + texts);
}

std::vector<UsdtProbe> ProbesIn(const ElfFile& file) {
  return ReadUsdtProbes(file);
}

ElfFile FileWith(std::string notes, std::uint64_t base_address = 0x5000) {
  ElfBuilder elf;
  elf.AddSection({.name = ".stapsdt.base", .flags = SHF_ALLOC, .address = base_address, .size = 1});
  elf.AddSection({.name = ".note.stapsdt", .type = SHT_NOTE, .contents = std::move(notes)});
  return ElfFile::Owning(elf.Build()).value();
}

const std::string kTexts = "libstdcxx\0throw\0008@%rdi 8@%rsi\0"s;

TEST(UsdtNotes, HaveProviderNameLocationAndSemaphore) {
  const ElfFile file = FileWith(ProbeNote(0x1234, 0x5000, 0x6000, kTexts));
  const std::vector<UsdtProbe> probes = ProbesIn(file);
  ASSERT_THAT(probes, SizeIs(1));
  EXPECT_EQ(probes[0].provider, "libstdcxx");
  EXPECT_EQ(probes[0].name, "throw");
  EXPECT_EQ(probes[0].location, ImageAddress{0x1234});
  EXPECT_EQ(probes[0].semaphore, ImageAddress{0x6000});
}

TEST(UsdtNotes, MoveWithTheBaseOfAPrelinkedFile) {
  const ElfFile file = FileWith(
      ProbeNote(0x1234, 0x5000, 0x6000, kTexts) + ProbeNote(0x1244, 0x5000, 0, kTexts), 0x7005000);
  const std::vector<UsdtProbe> probes = ProbesIn(file);
  ASSERT_THAT(probes, SizeIs(2));
  EXPECT_EQ(probes[0].location, ImageAddress{0x7001234});
  EXPECT_EQ(probes[0].semaphore, ImageAddress{0x7006000});
  EXPECT_EQ(probes[1].semaphore, ImageAddress{0});
}

TEST(UsdtNotes, SkipOtherOwnersAndTypes) {
  const ElfFile file = FileWith(ElfNote("GNU\0"s, 3, "x") + ElfNote("stapsdt\0"s, 2, "x") +
                                ProbeNote(1, 0x5000, 0, "a\0b\0\0"s));
  const std::vector<UsdtProbe> probes = ProbesIn(file);
  ASSERT_THAT(probes, SizeIs(1));
  EXPECT_EQ(probes[0].name, "b");
}

TEST(UsdtNotes, AreReadAsFarAsTheyAreWhole) {
  const std::string first = ProbeNote(1, 0x5000, 0, kTexts);
  const std::string notes = first + ProbeNote(2, 0x5000, 0, kTexts);
  for (std::size_t size = 0; size < notes.size(); ++size) {
    const ElfFile file = FileWith(notes.substr(0, size));
    const std::size_t found = ProbesIn(file).size();
    EXPECT_LE(found, size < first.size() ? 1U : 2U) << size;
    EXPECT_GE(found, size < first.size() ? 0U : 1U) << size;
  }
}

TEST(UsdtNotes, WithoutTheEndOfANameAreNone) {
  EXPECT_THAT(ProbesIn(FileWith(ProbeNote(1, 0x5000, 0, "provider"))), IsEmpty());
  EXPECT_THAT(ProbesIn(FileWith(ProbeNote(1, 0x5000, 0, "provider\0name"s))), IsEmpty());
  EXPECT_THAT(ProbesIn(FileWith(ElfNote("stapsdt\0"s, 3, Word(1)))), IsEmpty());
  EXPECT_THAT(ProbesIn(FileWith(std::string(12, '\xff'))), IsEmpty());
}

TEST(UsdtNotes, AreNoneWithoutTheSection) {
  EXPECT_THAT(ReadUsdtProbes(ElfFile::Owning(SmallElf("")).value()), IsEmpty());
}

}  // namespace
}  // namespace perftape::elf
