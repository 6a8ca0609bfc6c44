// SPDX-License-Identifier: Apache-2.0
// Files whose owner wants to keep the reader busy, or to use up its memory.
#include "formats/unwind/table_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "tests/formats/unwind/table_text.h"
#include "tests/support/frame_builder.h"

namespace perftape::unwind {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

constexpr std::uint64_t kText = FrameBuilder::kText;

// A program with `count` functions of 16 bytes, each with a row and a rule of its own.
FrameBuilder Functions(std::uint8_t count) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  for (std::uint8_t i = 0; i < count; ++i) {
    frames.AddFrame(common, kText + 16U * i, 16,
                    Instructions(DW_CFA_def_cfa_offset, 16 + 8 * (i % 14)));
  }
  return frames;
}

Table Build(const ElfBuilder& elf, const TableLimits& limits) {
  const std::vector<std::byte> image = elf.Build();
  return Table::Build(elf::ElfFile::FromBytes(image).value(), limits).value();
}

ElfBuilder::Section FrameSectionOf(std::string contents) {
  return {.name = ".eh_frame",
          .flags = SHF_ALLOC,
          .address = FrameBuilder::kSection,
          .contents = std::move(contents)};
}

TEST(TableBudget, IsNotReachedByAnOrdinaryProgram) {
  const Table table = Build(Functions(8).Program(), {});
  EXPECT_THAT(table.limit_reached(), IsEmpty());
  EXPECT_THAT(table.rows(), SizeIs(9));
}

TEST(TableBudget, LimitsTheBytes) {
  const Table table = Build(Functions(8).Program(), {.bytes = 100});
  EXPECT_EQ(table.limit_reached(), "more than 100 bytes of call frame information");
  EXPECT_FALSE(table.empty()) << "what was read before counts";
  EXPECT_LT(table.rows().size(), 9U);
}

TEST(TableBudget, LimitsTheFunctions) {
  const Table table = Build(Functions(8).Program(), {.functions = 3});
  EXPECT_EQ(table.limit_reached(), "more than 3 functions");
  EXPECT_THAT(table.rows(), SizeIs(4));
}

TEST(TableBudget, LimitsTheRowsOfOneFunction) {
  std::string instructions;
  for (int row = 0; row < 200; ++row) {
    instructions += Instructions(DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 16 + 8 * (row % 2));
  }
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), kText, 0x200, instructions);
  const Table table = Build(frames.Program(), {.rows = 20});
  EXPECT_EQ(table.limit_reached(), "more than 20 rows");
  EXPECT_LE(table.rows().size(), 22U);
  EXPECT_EQ(OneLine(table.Find(ImageAddress{kText + 100})), "none") << "nothing is known there";
}

TEST(TableBudget, LimitsTheRules) {
  const Table table = Build(Functions(8).Program(), {.rules = 5});
  EXPECT_EQ(table.limit_reached(), "more than 5 rules");
  EXPECT_THAT(table.rules(), SizeIs(5));
}

TEST(TableBudget, LimitsTheCommonEntries) {
  FrameBuilder frames;
  for (int i = 0; i < 4; ++i) frames.AddCommon({});
  frames.AddFrame(frames.AddCommon({}), kText, 16, "");
  const Table table = Build(frames.Program(), {.common_entries = 4});
  EXPECT_EQ(table.limit_reached(), "more than 4 common entries (CIE)");
}

TEST(TableBudget, LimitsTheCodeWithoutFrames) {
  ElfBuilder elf(ET_EXEC);
  elf.AddSegment({.offset = 0x1000, .address = kText, .size = FrameBuilder::kTextSize});
  const std::uint16_t text =
      elf.AddSection({.name = ".text",
                      .flags = SHF_ALLOC | SHF_EXECINSTR,
                      .address = kText,
                      .contents = "\x53\x5b\xc3" + std::string(61, '\x90'),  // push, pop, ret
                      .offset = 0x1000});
  EXPECT_THAT(Build(elf, {.undescribed_bytes = 64}).limit_reached(), IsEmpty());
  const Table table = Build(elf, {.undescribed_bytes = 32});
  EXPECT_EQ(table.limit_reached(), "more than 32 bytes of code without call frame information");
  EXPECT_FALSE(table.empty()) << "what was read before counts";
  elf.AddSymbol({.name = "function", .value = kText, .size = 3, .section = text});
  EXPECT_FALSE(Build(elf, {.symbol_bytes = 100}).empty());
  const Table no_symbols = Build(elf, {.symbol_bytes = 30});
  EXPECT_EQ(no_symbols.limit_reached(), "more than 30 bytes of symbol tables");
  EXPECT_TRUE(no_symbols.empty());
  const std::atomic<bool> stop = true;
  const Table stopped = Build(elf, {.stop = &stop});
  EXPECT_EQ(stopped.limit_reached(), "stopped");
  EXPECT_TRUE(stopped.empty());
}

TEST(TableBudget, EndsWhenItIsStopped) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  for (int i = 0; i < 3000; ++i) frames.AddFrame(common, kText + (i % 256) * 16, 16, "");
  std::atomic<bool> stop = true;
  EXPECT_EQ(Build(frames.Program(), {.stop = &stop}).limit_reached(), "stopped");
  stop = false;
  EXPECT_THAT(Build(frames.Program(), {.stop = &stop}).limit_reached(), IsEmpty());
}

// The last of them would be beyond the limit.
TEST(TableBudget, PaysOnceForSectionsThatNameTheSameBytes) {
  const FrameBuilder frames = Functions(8);
  ElfBuilder elf = frames.Program();
  ElfBuilder::Section again = FrameSectionOf("");
  again.offset = 0x10000;
  again.size = frames.contents().size();
  for (int i = 0; i < 100; ++i) elf.AddSection(again);
  const Table table = Build(elf, {.bytes = 3 * frames.contents().size()});
  EXPECT_THAT(table.limit_reached(), IsEmpty());
  EXPECT_THAT(table.rows(), SizeIs(9));
}

TEST(TableBudget, PaysForSectionsThatOverlap) {
  ElfBuilder elf(ET_EXEC);
  elf.AddSegment({.offset = 0x1000, .address = kText, .size = FrameBuilder::kTextSize});
  const std::string contents = Functions(8).contents();
  for (std::uint64_t i = 0; i < 8; ++i) {
    ElfBuilder::Section section = FrameSectionOf(contents);
    section.address += i;
    elf.AddSection(section);
  }
  EXPECT_EQ(
      Build(elf, {.bytes = 4 * contents.size()}).limit_reached(),
      "more than " + std::to_string(4 * contents.size()) + " bytes of call frame information");
}

TEST(TableBudget, LeavesOutACommonEntryOfAbsurdLength) {
  FrameBuilder frames;
  FrameBuilder::Common common;
  for (std::uint64_t i = 0; i < symbol_limits::kCommonEntry; ++i) {
    common.instructions += Instructions(DW_CFA_nop);
  }
  frames.AddFrame(frames.AddCommon(common), kText, 16, "");
  frames.AddFrame(frames.AddCommon({}), kText + 16, 16, "");
  EXPECT_THAT(RowsOf(Build(frames.Program(), {})),
              ElementsAre(Pair(kText + 16, "sp+8 ra-8"), Pair(kText + 32, "none")));
}

TEST(TableBudget, IsNotExceededByAnAugmentationOfManyLetters) {
  FrameBuilder frames;
  FrameBuilder::Common common;
  common.letters = "z" + std::string(50'000, 'R');
  frames.AddFrame(frames.AddCommon(common), kText, 16, "");
  EXPECT_THAT(Build(frames.Program(), {}).limit_reached(), IsEmpty());
}

}  // namespace
}  // namespace perftape::unwind
