// SPDX-License-Identifier: Apache-2.0
#include "formats/elf/elf_file.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "formats/elf/slim.h"
#include "tests/support/elf_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::elf {
namespace {

ElfFile OpenBytes(Bytes image) {
  auto file = ElfFile::FromBytes(image);
  if (!file) throw std::runtime_error(file.error().message);
  return *std::move(file);
}

// Returns a layout of lld: for each segment, addresses exceed offsets by one more page.
std::vector<std::byte> LldLayout() {
  ElfBuilder elf(ET_DYN);
  elf.AddSegment({.offset = 0, .address = 0, .size = 0x5a0, .flags = PF_R});
  elf.AddSegment({.offset = 0x5a0, .address = 0x15a0, .size = 0x300, .flags = PF_R | PF_X});
  elf.AddSegment({.offset = 0x8a0, .address = 0x28a0, .size = 0x100, .flags = PF_R | PF_W});
  return elf.Build();
}

TEST(ElfFile, MapsAnOffsetToItsSegmentsAddress) {
  const std::vector<std::byte> image = LldLayout();
  const ElfFile file = OpenBytes(image);
  EXPECT_EQ(file.ToImage({0x5a0}), ImageAddress{0x15a0});
  EXPECT_EQ(file.ToImage({0x89f}), ImageAddress{0x189f});
  EXPECT_EQ(file.ToImage({0x8a0}), ImageAddress{0x28a0});
}

TEST(ElfFile, ExtendsACodeSegmentToItsPageStart) {
  ElfBuilder elf(ET_DYN);
  elf.AddSegment({.offset = 0x1234, .address = 0x402234, .size = 0x100});
  const std::vector<std::byte> image = elf.Build();
  const ElfFile file = OpenBytes(image);
  EXPECT_EQ(file.ToImage({0x1000}), ImageAddress{0x402000});
  EXPECT_EQ(file.ToImage({0xfff}), std::nullopt);
  EXPECT_EQ(file.ToImage({0x1334}), std::nullopt);
}

TEST(ElfFile, PrefersTheCodeSegmentWhereTwoHoldAnOffset) {
  ElfBuilder elf(ET_DYN);
  elf.AddSegment({.offset = 0, .address = 0, .size = 0x2000, .flags = PF_R});
  elf.AddSegment({.offset = 0x1000, .address = 0x401000, .size = 0x1000});
  const std::vector<std::byte> image = elf.Build();
  EXPECT_EQ(OpenBytes(image).ToImage({0x1800}), ImageAddress{0x401800});
}

// objcopy --only-keep-debug keeps no bytes of the code segment, and no offset if GNU ld linked the
// file.
TEST(ElfFile, MapsImageOffsetsInADebugFile) {
  for (const std::uint64_t kept_offset : {0x1000U, 0U}) {
    ElfBuilder elf(ET_DYN);
    elf.AddSegment({.offset = 0, .address = 0x400000, .size = 0x3a0, .flags = PF_R});
    elf.AddSegment({.offset = kept_offset, .address = 0x401000, .size = 0});
    std::vector<std::byte> image = elf.Build();
    const std::uint64_t memory_size = 0x200;
    std::memcpy(&image[sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, p_memsz)],
                &memory_size, sizeof memory_size);
    EXPECT_EQ(OpenBytes(image).ToImage({0x1010}), ImageAddress{0x401010}) << kept_offset;
  }
}

TEST(ElfFile, GoesBackFromAddressToOffset) {
  const std::vector<std::byte> image = LldLayout();
  const ElfFile file = OpenBytes(image);
  for (const std::uint64_t offset : {0x0U, 0x59fU, 0x5a0U, 0x89fU, 0x8a0U, 0x99fU}) {
    EXPECT_EQ(file.ToFile(*file.ToImage({offset})), FileOffset{offset});
  }
  EXPECT_EQ(file.ToFile({0x1000}), std::nullopt);
}

TEST(ElfFile, UsesSectionsWhereNothingIsLoadedByTheProgramHeaders) {
  ElfBuilder elf(ET_DYN);
  elf.AddSection({.name = ".text",
                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                  .address = 0x40,
                  .size = 0x100,
                  .offset = 0x80});
  const std::vector<std::byte> image = elf.Build();
  EXPECT_EQ(OpenBytes(image).ToImage({0x90}), ImageAddress{0x50});
}

TEST(ElfFile, UsesOffsetsAsAddressesInARelocatableFile) {
  ElfBuilder elf(ET_REL);
  elf.AddSection({.name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR, .size = 16, .offset = 0x80});
  const std::vector<std::byte> image = elf.Build();
  EXPECT_EQ(OpenBytes(image).ToImage({0x84}), ImageAddress{0x84});
}

TEST(ElfFile, ReadsItsBuildId) {
  const std::vector<std::byte> image = SmallElf("some id");
  EXPECT_EQ(OpenBytes(image).build_id(), BuildId::From(AsBytes("some id")));
}

TEST(ElfFile, OpensAFileAndStaysValidWhenMoved) {
  const TempDir dir;
  auto opened = ElfFile::Open(dir.Write("program", SmallElf("")));
  ASSERT_TRUE(opened) << opened.error().message;
  const ElfFile file = *std::move(opened);
  EXPECT_EQ(file.ToImage({0x1100}), ImageAddress{0x401100});
}

TEST(ElfFile, RefusesWhatIsNoElfFile) {
  const TempDir dir;
  for (const std::string text : {"", "\x7f",
                                 "\x7f"
                                 "ELF",
                                 "#!/bin/sh\n", "!<arch>\n"}) {
    const auto opened = ElfFile::Open(dir.Write("file", text));
    ASSERT_FALSE(opened) << text;
    EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  }
}

TEST(ElfFile, DoesNotReadDevicesNorDirectories) {
  for (const char* path : {"/dev/zero", "/"}) {
    const auto opened = ElfFile::Open(path);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kUnsupported) << path;
  }
}

// Section 0 may contain 2^32 as the number of sections, and a hole may hold that many headers.
TEST(ElfFileLimit, ReadsNoMillionSectionHeadersOutOfAHole) {
  std::vector<std::byte> image = SmallElf("0123456789");
  Elf64_Ehdr header;
  std::memcpy(&header, image.data(), sizeof header);
  Elf64_Shdr first = {};
  first.sh_size = UINT32_MAX;
  header.e_shnum = 0;
  header.e_shoff = image.size();
  std::memcpy(image.data(), &header, sizeof header);
  const auto* bytes = reinterpret_cast<const std::byte*>(&first);
  image.insert(image.end(), bytes, bytes + sizeof first);
  const TempDir dir;
  const auto path = dir.Write("x", image);
  std::filesystem::resize_file(path, std::uint64_t{1 << 20} * sizeof(Elf64_Shdr));
  const auto file = ElfFile::Open(path);
  ASSERT_TRUE(file);
  EXPECT_LE(file->sections().size(), 1u << 18);
  EXPECT_FALSE(SlimCopy(*file));
}

// Many sections can have the same long name.
TEST(ElfFile, LimitsTheNamesOfSections) {
  const std::string usual(4000, 'x'), absurd(5000, 'y');
  ElfBuilder elf;
  elf.AddSection({.name = usual});
  elf.AddSection({.name = absurd});
  const std::vector<std::byte> image = elf.Build();
  const ElfFile file = ElfFile::FromBytes(image).value();
  EXPECT_NE(file.FindSection(usual), nullptr);
  EXPECT_EQ(file.FindSection(absurd), nullptr);
}

}  // namespace
}  // namespace perftape::elf
