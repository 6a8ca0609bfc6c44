// SPDX-License-Identifier: Apache-2.0
#include "convert/symbolize/elf_symbolizer.h"

#include <gtest/gtest.h>

#include "tests/convert/symbolize/one_mapping.h"
#include "tests/support/elf_builder.h"
#include "tests/support/go_table.h"
#include "tests/support/temp_dir.h"

namespace perftape::symbolize {
namespace {

// Symbolizes recordings that were made on this machine.
class ElfSymbolizerTest : public testing::Test {
 private:
  SymbolOptions options_{.demangling = Demangling::kTemplates};
  ProfileOrigin recording_{ProfileOrigin::Machine{.other_than_here = {}}};
  RecordingSources sources_{recording_, options_};
  ElfBinaries binaries_{DebugFiles({}, {}), options_};

 protected:
  ElfSymbolizer symbolizer_{binaries_, sources_};
};

TEST_F(ElfSymbolizerTest, NamesOffsetsInTheRecordedFile) {
  const TempDir dir;
  const convert::Profile profile = ProfileOf({.filename = dir.Write("program", SmallElf(""))});
  EXPECT_EQ(NameAt(symbolizer_, profile, 0x1100), "spin");
  EXPECT_EQ(NameAt(symbolizer_, profile, 0x113f), "spin");
  EXPECT_EQ(NameWithOffsetAt(symbolizer_, profile, 0x113f), "spin+0x3f");
  EXPECT_EQ(NameWithOffsetAt(symbolizer_, profile, 0x1140), "(no symbol)");
  EXPECT_EQ(NameAt(symbolizer_, profile, 0x1140), "(no symbol)");
  EXPECT_EQ(NameAt(symbolizer_, profile, 0x999999), "(no symbol)");
}

TEST_F(ElfSymbolizerTest, KnowsWhichMappingsAreCodeOfTheFile) {
  const TempDir dir;
  const std::string path = dir.Write("program", SmallElf(""));
  const auto is_code = [&](const std::string& name, std::uint64_t offset, std::uint64_t size) {
    const convert::Profile profile = ProfileOf({.filename = name,
                                                .start = 0x7f0000000000,
                                                .limit = 0x7f0000000000 + size,
                                                .file_offset = offset,
                                                .offsets = {offset}});
    return symbolizer_.IsCodeOfFile(profile, profile[convert::MappingId{1}]);
  };
  EXPECT_TRUE(is_code(path, 0x1000, 0x1000));
  EXPECT_FALSE(is_code(path, 0x1000, 0x400000));  // larger than the program's code
  EXPECT_FALSE(is_code(path, 0x400000, 0x1000));
  EXPECT_FALSE(is_code("/memfd:jit (deleted)", 0x1000, 0x1000));
}

TEST_F(ElfSymbolizerTest, NeverUsesAFileOfAnotherBuild) {
  const TempDir dir;
  const convert::Profile profile =
      ProfileOf({.filename = dir.Write("program", SmallElf("new")), .build_id = "6f6c64"});
  EXPECT_EQ(NameAt(symbolizer_, profile, 0x1100), "(wrong build id)");
}

TEST_F(ElfSymbolizerTest, DemanglesAndKeepsTheLinkersName) {
  ElfBuilder elf;
  const std::uint16_t text = elf.AddSection({.name = ".text",
                                             .flags = SHF_ALLOC | SHF_EXECINSTR,
                                             .address = 0x1000,
                                             .size = 0x100,
                                             .offset = 0x1000});
  elf.AddSegment({.offset = 0x1000, .address = 0x1000, .size = 0x100});
  elf.AddSymbol({.name = "_ZN4Tape4playEi", .value = 0x1000, .size = 16, .section = text});
  const TempDir dir;
  const convert::Profile profile = ProfileOf({.filename = dir.Write("program", elf.Build())});
  const FileOffset offsets[] = {{0x1004}};
  const auto resolution = symbolizer_.Resolve(profile, convert::MappingId{1}, offsets);
  ASSERT_TRUE(resolution);
  EXPECT_EQ(resolution->answers[0].frames[0].name, "Tape::play");
  EXPECT_EQ(resolution->answers[0].frames[0].system_name, "_ZN4Tape4playEi");
}

TEST_F(ElfSymbolizerTest, NamesStrippedBinariesByGosPclntab) {
  const GoTable table = MakeGoTable(
      {.text_start = 0x1000},
      {{.entry = 0, .name = "main.main", .file = "/src/main.go", .lines = {{0x20, 8}}}}, 0x40);
  ElfBuilder elf;
  elf.AddSection({.name = ".text",
                  .flags = SHF_ALLOC | SHF_EXECINSTR,
                  .address = 0x1000,
                  .size = 0x40,
                  .offset = 0x1000});
  elf.AddSection({.name = ".gopclntab",
                  .flags = SHF_ALLOC,
                  .address = 0x2000,
                  .contents = std::string(AsText(table.table)),
                  .offset = 0x2000});
  elf.AddSegment({.offset = 0x1000, .address = 0x1000, .size = 0x100});
  const TempDir dir;
  const convert::Profile profile = ProfileOf({.filename = dir.Write("program", elf.Build())});
  const FileOffset offsets[] = {{0x1004}};
  const auto resolution = symbolizer_.Resolve(profile, convert::MappingId{1}, offsets);
  ASSERT_TRUE(resolution);
  ASSERT_EQ(resolution->answers[0].frames.size(), 1U);
  EXPECT_EQ(resolution->answers[0].frames[0].name, "main.main");
  EXPECT_EQ(resolution->answers[0].frames[0].filename, "/src/main.go");
  EXPECT_EQ(resolution->answers[0].frames[0].line, 8U);
}

TEST_F(ElfSymbolizerTest, MissesWhatIsNoFile) {
  for (const char* filename : {"/nonexistent", "[uprobes]", "relative", "/dev/zero", ""}) {
    EXPECT_EQ(NameAt(symbolizer_, ProfileOf({.filename = filename}), 0x1100), "(no file)")
        << filename;
  }
}

}  // namespace
}  // namespace perftape::symbolize
