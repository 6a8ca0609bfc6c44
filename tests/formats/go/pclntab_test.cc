// SPDX-License-Identifier: Apache-2.0
#include "formats/go/pclntab.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <stdexcept>
#include <string>

#include "tests/support/elf_builder.h"
#include "tests/support/go_table.h"

namespace perftape::go {
namespace {

GoTable OneFunction(const GoTableFormat& format = {}) {
  return MakeGoTable(format, {{.entry = 0, .name = "main.main", .file = "main.go"}}, 0x40);
}

std::string TextOf(const GoTable& made) {
  return std::string(AsText(made.table));
}

elf::ElfFile OpenBytes(Bytes image) {
  auto file = elf::ElfFile::FromBytes(image);
  if (!file) throw std::runtime_error(file.error().message);
  return *std::move(file);
}

TEST(TableHeader, IsReadInBothByteOrdersAndWordSizes) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    for (const std::uint8_t word : std::initializer_list<std::uint8_t>{4, 8}) {
      const GoTable made = OneFunction({.word_size = word, .pc_quantum = 4, .order = order});
      const auto header = ReadTableHeader(made.table, order);
      ASSERT_TRUE(header);
      EXPECT_EQ(header->word_size, word);
      EXPECT_EQ(header->pc_quantum, 4);
      EXPECT_EQ(header->functions, 1U);
    }
  }
}

TEST(TableHeader, DetectsTheVersion) {
  for (const TableVersion version :
       {TableVersion::kGo12, TableVersion::kGo116, TableVersion::kGo118, TableVersion::kGo120}) {
    const GoTable made = OneFunction({.version = version});
    const auto header = ReadTableHeader(made.table, std::endian::little);
    ASSERT_TRUE(header);
    EXPECT_EQ(header->version, version);
  }
}

TEST(TableHeader, IsNoneWhereTheTableEndsBeforeItsFunctions) {
  const GoTable made = OneFunction();
  const auto header = ReadTableHeader(made.table, std::endian::little);
  ASSERT_TRUE(header);
  const std::uint64_t functions_end = header->function_table + 3 * sizeof(std::uint32_t);
  for (std::uint64_t size = 0; size < functions_end; ++size) {
    EXPECT_FALSE(ReadTableHeader(Bytes(made.table).first(size), std::endian::little)) << size;
  }
  EXPECT_TRUE(ReadTableHeader(Bytes(made.table).first(functions_end), std::endian::little));
}

TEST(TableHeader, IsNoneWithMoreFunctionsThanTheTableHasRoomFor) {
  for (const TableVersion version : {TableVersion::kGo12, TableVersion::kGo120}) {
    GoTable made = OneFunction({.version = version});
    for (std::size_t i = 8; i < 16; ++i) made.table[i] = std::byte{0xff};
    EXPECT_FALSE(ReadTableHeader(made.table, std::endian::little));
  }
}

TEST(FindTable, FindsTheSectionOfItsName) {
  ElfBuilder elf;
  elf.AddSection({.name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR, .size = 0x40});
  elf.AddSection({.name = ".gopclntab",
                  .flags = SHF_ALLOC,
                  .address = 0x2000,
                  .contents = TextOf(OneFunction()),
                  .offset = 0x2000});
  const std::vector<std::byte> image = elf.Build();
  const elf::ElfFile file = OpenBytes(image);
  const Image go_image(file);
  const auto found = FindTable(go_image);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes.data() - file.image().data(), 0x2000);
  EXPECT_EQ(found->bytes.size(), OneFunction().table.size());
}

TEST(FindTable, FindsATableInsideAnotherSectionOfAGoBinary) {
  ElfBuilder elf;
  elf.AddSection({.name = ".go.buildinfo", .flags = SHF_ALLOC, .address = 0x1000, .size = 0x20});
  elf.AddSection({.name = ".data.rel.ro",
                  .flags = SHF_ALLOC,
                  .address = 0x2000,
                  .contents = std::string(0x60, '\xff') + TextOf(OneFunction()),
                  .offset = 0x2000});
  const std::vector<std::byte> image = elf.Build();
  const elf::ElfFile file = OpenBytes(image);
  const Image go_image(file);
  const auto found = FindTable(go_image);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->bytes.data() - file.image().data(), 0x2060);
}

TEST(FindTable, DoesNotSearchTheDataOfOtherBinaries) {
  ElfBuilder elf;
  elf.AddSection({.name = ".data.rel.ro",
                  .flags = SHF_ALLOC,
                  .address = 0x2000,
                  .contents = TextOf(OneFunction())});
  const std::vector<std::byte> image = elf.Build();
  const elf::ElfFile file = OpenBytes(image);
  EXPECT_FALSE(FindTable(Image(file)));
}

}  // namespace
}  // namespace perftape::go
