// SPDX-License-Identifier: Apache-2.0
#include "formats/unwind/saved_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "formats/unwind/table_cache.h"
#include "tests/formats/unwind/table_text.h"
#include "tests/support/frame_builder.h"
#include "tests/support/temp_dir.h"

namespace perftape::unwind {
namespace {

constexpr std::uint64_t kFingerprint = 7;

Table SmallTable() {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  frames.AddFrame(common, FrameBuilder::kText, 0x20,
                  Instructions(DW_CFA_advance_loc + 1, DW_CFA_def_cfa_offset, 16));
  frames.AddFrame(common, FrameBuilder::kText + 0x20, 0x20, Instructions(DW_CFA_undefined, 16));
  return TableOf(frames.Program().Build());
}

// Decodes a copy, aligned as a mapping is, which the table keeps.
std::optional<Table> Decoded(const std::vector<std::byte>& bytes) {
  const auto copy = std::make_shared<const std::vector<std::byte>>(bytes);
  return DecodeTable(*copy, kFingerprint, copy);
}

TEST(SavedTable, GivesBackTheTable) {
  const Table table = SmallTable();
  const auto decoded = Decoded(EncodeTable(table, kFingerprint));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(RowsOf(*decoded), RowsOf(table));
  EXPECT_EQ(decoded->base(), table.base());
  EXPECT_EQ(decoded->machine(), table.machine());
  EXPECT_EQ(OneLine(decoded->Find(ImageAddress{FrameBuilder::kText + 0x30})), "end");
}

TEST(SavedTable, GivesBackAnEmptyTable) {
  const auto decoded = Decoded(EncodeTable(TableOf(ElfBuilder().Build()), kFingerprint));
  ASSERT_TRUE(decoded);
  EXPECT_TRUE(decoded->empty());
}

TEST(SavedTable, RefusesAnotherFingerprint) {
  EXPECT_FALSE(Decoded(EncodeTable(SmallTable(), kFingerprint + 1)));
}

TEST(SavedTable, RefusesEachOtherSize) {
  const std::vector<std::byte> bytes = EncodeTable(SmallTable(), kFingerprint);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Decoded({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)}));
  }
  std::vector<std::byte> longer = bytes;
  longer.resize(longer.size() + sizeof(Row));
  EXPECT_FALSE(Decoded(longer));
}

// What Find() relies on holds for every damaged file that is accepted.
TEST(SavedTable, IsHarmlessWithAnyDamagedByte) {
  const std::vector<std::byte> bytes = EncodeTable(SmallTable(), kFingerprint);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (const unsigned bits : {0x01U, 0x80U, 0xffU}) {
      std::vector<std::byte> damaged = bytes;
      damaged[i] ^= static_cast<std::byte>(bits);
      const auto decoded = Decoded(damaged);
      if (!decoded) continue;
      std::int64_t before = -1;
      for (const Row& row : decoded->rows()) {
        EXPECT_GT(row.pc, before) << i;
        EXPECT_LT(row.rule, decoded->rules().size()) << i;
        before = row.pc;
      }
    }
  }
}

// A program whose table is worth saving.
std::vector<std::byte> LargeProgram(std::uint8_t cfa_offset) {
  FrameBuilder frames;
  const auto common = frames.AddCommon({});
  for (int i = 0; i < 2000; ++i) {
    frames.AddFrame(common, FrameBuilder::kText + static_cast<std::uint64_t>(i), 1,
                    Instructions(DW_CFA_def_cfa_offset, cfa_offset));
  }
  ElfBuilder elf = frames.Program();
  elf.SetBuildId("twenty bytes of id..");
  return elf.Build();
}

std::string RuleAtStart(const TableCache& tables, const std::vector<std::byte>& image) {
  const auto table = tables.Load(elf::ElfFile::FromBytes(image).value());
  return table ? OneLine(table->Find(ImageAddress{FrameBuilder::kText})) : "";
}

std::size_t FilesIn(const std::filesystem::path& directory) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(directory),
                                                std::filesystem::directory_iterator()));
}

TEST(TableCache, UsesWhatItHasSaved) {
  const TempDir temp;
  const TableCache tables(temp.path());
  EXPECT_EQ(RuleAtStart(tables, LargeProgram(16)), "sp+16 ra-8");
  EXPECT_EQ(FilesIn(temp.path()), 1);
  // Another program with this build id and the same sizes shows that the table was not built.
  EXPECT_EQ(RuleAtStart(tables, LargeProgram(24)), "sp+16 ra-8");
  EXPECT_EQ(RuleAtStart(TableCache(temp.path()), LargeProgram(24)), "sp+16 ra-8");
}

TEST(TableCache, BuildsTheTableOfAFileWithOtherSections) {
  const TempDir temp;
  const TableCache tables(temp.path());
  EXPECT_EQ(RuleAtStart(tables, LargeProgram(16)), "sp+16 ra-8");
  FrameBuilder frames(FrameBuilder::Section::kDebugFrame);
  const auto common = frames.AddCommon({.letters = "", .version = 4});
  for (int i = 0; i < 2000; ++i) {
    frames.AddFrame(common, FrameBuilder::kText, 16, Instructions(DW_CFA_def_cfa_offset, 24));
  }
  ElfBuilder debug_file = frames.Program();
  debug_file.SetBuildId("twenty bytes of id..");
  EXPECT_EQ(RuleAtStart(tables, debug_file.Build()), "sp+24 ra-8");
}

TEST(TableCache, SavesNothingSmallAndNothingWithoutABuildIdOrDirectory) {
  const TempDir temp;
  const TableCache tables(temp.path());
  FrameBuilder frames;
  frames.AddFrame(frames.AddCommon({}), FrameBuilder::kText, 16, "");
  ElfBuilder small = frames.Program();
  EXPECT_EQ(RuleAtStart(tables, small.Build()), "sp+8 ra-8");
  small.SetBuildId("twenty bytes of id..");
  EXPECT_EQ(RuleAtStart(tables, small.Build()), "sp+8 ra-8");
  EXPECT_EQ(FilesIn(temp.path()), 0);
  EXPECT_EQ(RuleAtStart(TableCache({}), LargeProgram(16)), "sp+16 ra-8");
}

}  // namespace
}  // namespace perftape::unwind
