// SPDX-License-Identifier: Apache-2.0
#include "formats/go/pc_line_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <stdexcept>
#include <string>

#include "formats/elf/slim.h"
#include "tests/support/elf_builder.h"
#include "tests/support/go_table.h"

namespace perftape::go {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kText = 0x401000;

// The table has views into `made`.
PcLineTable Open(const GoTable& made, std::endian order = std::endian::little) {
  auto table = PcLineTable::FromParts(
      {.table = made.table, .order = order, .text = {kText}, .function_data = made.function_data});
  if (!table) throw std::runtime_error(table.error().message);
  return *std::move(table);
}

// Returns "function file:line from start" of each frame, innermost first.
std::vector<std::string> Found(const PcLineTable& table, std::uint64_t address) {
  std::vector<std::string> texts;
  for (const GoFrame& frame : table.Find({address})) {
    texts.push_back(std::string(frame.function) + " " + std::string(frame.file) + ":" +
                    std::to_string(frame.line) + " from " + std::to_string(frame.start_line));
  }
  return texts;
}

std::vector<GoFunction> TwoFunctions(std::uint64_t text = 0) {
  return {{.entry = text,
           .name = "main.main",
           .file = "/src/main.go",
           .start_line = 10,
           .lines = {{0x10, 10}, {0x20, 300}, {0x30, 12}}},
          {.entry = text + 0x40,
           .name = "main.(*T).Name",
           .file = "/src/t.go",
           .start_line = 7,
           .lines = {{0x8, 7}}}};
}

TEST(PcLineTable, KnowsWhereFunctionsBegin) {
  const GoTable made = MakeGoTable({.version = TableVersion::kGo120}, TwoFunctions(), 0x60);
  const PcLineTable table = Open(made);
  EXPECT_TRUE(table.IsEntry({kText}));
  EXPECT_TRUE(table.IsEntry({kText + 0x40}));
  EXPECT_FALSE(table.IsEntry({kText + 0x3f}));
  EXPECT_FALSE(table.IsEntry({kText - 1}));
  EXPECT_FALSE(table.IsEntry({kText + 0x60}));  // the end of the code
}

TEST(PcLineTable, NamesFunctionsWithFilesAndLines) {
  const GoTable made = MakeGoTable({.version = TableVersion::kGo120}, TwoFunctions(), 0x60);
  const PcLineTable table = Open(made);
  EXPECT_THAT(Found(table, kText), ElementsAre("main.main /src/main.go:10 from 10"));
  EXPECT_THAT(Found(table, kText + 0x1f), ElementsAre("main.main /src/main.go:300 from 10"));
  EXPECT_THAT(Found(table, kText + 0x20), ElementsAre("main.main /src/main.go:12 from 10"));
  EXPECT_THAT(Found(table, kText + 0x40), ElementsAre("main.(*T).Name /src/t.go:7 from 7"));
}

TEST(PcLineTable, NamesNothingBeforeTheFirstFunctionAndBehindTheLast) {
  const GoTable made = MakeGoTable({}, TwoFunctions(), 0x60);
  const PcLineTable table = Open(made);
  EXPECT_THAT(Found(table, kText - 1), IsEmpty());
  EXPECT_THAT(Found(table, kText + 0x60), IsEmpty());
  EXPECT_THAT(Found(table, 0), IsEmpty());
  EXPECT_THAT(Found(table, ~std::uint64_t{0}), IsEmpty());
}

TEST(PcLineTable, NamesPaddingBehindAFunctionWithoutALine) {
  const GoTable made = MakeGoTable({}, TwoFunctions(), 0x60);
  EXPECT_THAT(Found(Open(made), kText + 0x3f), ElementsAre("main.main :0 from 10"));
}

TEST(PcLineTable, UsesTheFirstLineAsStartLine) {
  const GoTable made = MakeGoTable({.version = TableVersion::kGo118}, TwoFunctions(), 0x60);
  EXPECT_THAT(Found(Open(made), kText + 0x20), ElementsAre("main.main /src/main.go:12 from 10"));
}

TEST(PcLineTable, ReadsOlderVersionsWhoseEntriesAreAddresses) {
  for (const TableVersion version : {TableVersion::kGo12, TableVersion::kGo116}) {
    const GoTable made = MakeGoTable({.version = version}, TwoFunctions(kText), kText + 0x60);
    EXPECT_THAT(Found(Open(made), kText + 0x12), ElementsAre("main.main /src/main.go:300 from 10"));
    EXPECT_THAT(Found(Open(made), kText + 0x44), ElementsAre("main.(*T).Name /src/t.go:7 from 7"));
  }
}

TEST(PcLineTable, ReadsBothByteOrdersAndWordSizesWithInstructionsOfFourBytes) {
  for (const std::endian order : {std::endian::little, std::endian::big}) {
    for (const std::uint8_t word : std::initializer_list<std::uint8_t>{4, 8}) {
      const GoTable made =
          MakeGoTable({.word_size = word, .pc_quantum = 4, .order = order}, TwoFunctions(), 0x60);
      EXPECT_THAT(Found(Open(made, order), kText + 0x44),
                  ElementsAre("main.(*T).Name /src/t.go:7 from 7"));
    }
  }
}

// leaf() is inlined into middle(), and that into main.main.
std::vector<GoFunction> Inlined() {
  return {{.entry = 0,
           .name = "main.main",
           .file = "/src/main.go",
           .start_line = 10,
           .lines = {{0x10, 11}, {0x18, 21}, {0x20, 31}, {0x30, 12}},
           .inline_index = {{0x10, -1}, {0x18, 0}, {0x20, 1}, {0x30, -1}},
           .calls = {{.name = "main.middle", .parent_pc = 0x8, .start_line = 20},
                     {.name = "main.leaf", .parent_pc = 0x14, .start_line = 30}}}};
}

TEST(PcLineTable, ResolvesInlinedCalls) {
  const GoTable made = MakeGoTable({.version = TableVersion::kGo120}, Inlined(), 0x40);
  const PcLineTable table = Open(made);
  EXPECT_THAT(Found(table, kText + 0x1c), ElementsAre("main.leaf /src/main.go:31 from 30",
                                                      "main.middle /src/main.go:21 from 20",
                                                      "main.main /src/main.go:11 from 10"));
  EXPECT_THAT(Found(table, kText + 0x20), ElementsAre("main.main /src/main.go:12 from 10"));
}

TEST(PcLineTable, ResolvesInlinedCallsOfGo118) {
  const GoTable made = MakeGoTable({.version = TableVersion::kGo118}, Inlined(), 0x40);
  EXPECT_THAT(Found(Open(made), kText + 0x1c),
              ElementsAre("main.leaf /src/main.go:31 from 0", "main.middle /src/main.go:21 from 0",
                          "main.main /src/main.go:11 from 11"));
}

TEST(PcLineTable, EndsWhereAnInlinedCallIsItsOwnCaller) {
  std::vector<GoFunction> functions = Inlined();
  functions[0].calls[0].parent_pc = 0x14;
  const GoTable made = MakeGoTable({.version = TableVersion::kGo120}, functions, 0x40);
  EXPECT_LE(Found(Open(made), kText + 0x14).size(), 64U);
}

TEST(PcLineTable, IsReadFromABinaryWhoseWordsWaitForTheirRelocation) {
  constexpr std::uint64_t kTable = 0x2000, kModule = 0x4000, kData = 0x3000;
  const GoTable made = MakeGoTable({.version = TableVersion::kGo120}, Inlined(), 0x40);
  const auto bytes = [](std::initializer_list<std::uint64_t> words) {
    const std::vector<std::uint64_t> all = words;
    return std::string(AsText(std::as_bytes(std::span(all))));
  };
  std::vector<std::uint64_t> module(41);
  module[17] = 2;  // number of entries of the function table
  ElfBuilder elf(ET_DYN);
  elf.AddSection({.name = ".go.buildinfo", .flags = SHF_ALLOC, .address = 0x800, .size = 0x20});
  elf.AddSection({.name = ".rela.dyn",
                  .type = SHT_RELA,
                  .flags = SHF_ALLOC,
                  .address = 0x900,
                  .contents = bytes({kModule, 8, kTable}) + bytes({kModule + 22 * 8, 8, kText}) +
                              bytes({kModule + 40 * 8, 8, kData}),
                  .offset = 0x900});
  elf.AddSection({.name = ".data.rel.ro",
                  .flags = SHF_ALLOC,
                  .address = kTable,
                  .contents = std::string(AsText(made.table)),
                  .offset = kTable});
  elf.AddSection({.name = ".rodata",
                  .flags = SHF_ALLOC,
                  .address = kData,
                  .contents = std::string(AsText(made.function_data)),
                  .offset = kData});
  elf.AddSection({.name = ".data",
                  .flags = SHF_ALLOC | SHF_WRITE,
                  .address = kModule,
                  .contents = std::string(AsText(std::as_bytes(std::span(module)))),
                  .offset = kModule});
  elf.AddSegment({.offset = 0, .address = 0, .size = 0x5000, .flags = PF_R});
  elf.AddSection({.name = ".text",
                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                  .address = kText,
                  .size = 0x4000,
                  .offset = 0x8000});
  const std::vector<std::byte> image = elf.Build();
  const auto file = elf::ElfFile::FromBytes(image);
  ASSERT_TRUE(file);
  const auto table = PcLineTable::Read(*file);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_THAT(Found(*table, kText + 0x14), ElementsAre("main.middle /src/main.go:21 from 20",
                                                       "main.main /src/main.go:11 from 10"));

  const std::vector<elf::FileRange> ranges = table->RangesRead();
  const auto slim = elf::SlimCopy(*file, {.also = ranges});
  ASSERT_TRUE(slim);
  const auto slim_file = elf::ElfFile::FromBytes(*slim);
  ASSERT_TRUE(slim_file);
  const auto slim_table = PcLineTable::Read(*slim_file);
  ASSERT_TRUE(slim_table) << slim_table.error().message;
  EXPECT_EQ(Found(*slim_table, kText + 0x14), Found(*table, kText + 0x14));
}

TEST(PcLineTable, AnswersWhateverBytesAreMissing) {
  const GoTable made = MakeGoTable({.version = TableVersion::kGo120}, Inlined(), 0x40);
  for (std::size_t size = 0; size < made.table.size(); ++size) {
    GoTable cut = made;
    cut.table.resize(size);
    const auto table = PcLineTable::FromParts({.table = cut.table,
                                               .order = std::endian::little,
                                               .text = {kText},
                                               .function_data = cut.function_data});
    if (table) table->Find({kText + 0x1c});
  }
  const std::vector<std::byte> few(made.function_data.begin(), made.function_data.begin() + 12);
  EXPECT_THAT(Found(Open({.table = made.table, .function_data = few}), kText + 0x1c),
              ElementsAre("main.main /src/main.go:31 from 10"));
}

}  // namespace
}  // namespace perftape::go
