// SPDX-License-Identifier: Apache-2.0
#include "convert/export/generated_symbols.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "convert/export/to_perfdata.h"
#include "formats/elf/elf_file.h"
#include "formats/elf/elf_writer.h"
#include "tests/convert/export/profile_maker.h"
#include "tests/support/files.h"
#include "tests/support/matchers.h"
#include "tests/support/temp_dir.h"

namespace perftape::convert {
namespace {

namespace fs = std::filesystem;

GeneratedSymbolFile FileOf(std::string_view path) {
  GeneratedSymbolFile file = {.path = path, .names = {"main", "f"}};
  file.build_id = elf::NamedFunctionsId(file.names);
  return file;
}

Profile SmallProfile() {
  ProfileMaker made;
  made.Hit(made.Calls({made.Frame(made.Map("/bin/app"), 0x10, {"main"})}), made.Runs("app"),
           made.Counts("cycles"), 1, 1);
  return made.Make();
}

TEST(SymbolFilePath, IsThatOfTheBinaryOrItsLastPart) {
  EXPECT_EQ(SymbolFilePath("/usr/lib/libc.so.6"), "/usr/lib/libc.so.6");
  EXPECT_EQ(SymbolFilePath("[folded]"), "/folded");
  EXPECT_EQ(SymbolFilePath("libx.so"), "/libx.so");
  EXPECT_EQ(SymbolFilePath("//anon"), "/anon");
  EXPECT_EQ(SymbolFilePath(""), "/unknown");
}

TEST(SymbolFilePath, LeadsOutOfNoDirectory) {
  EXPECT_EQ(SymbolFilePath("/../../etc/passwd"), "/passwd");
  EXPECT_EQ(SymbolFilePath("/a/.."), "/unknown");
  EXPECT_EQ(SymbolFilePath("/.build-id/aa/bb"), "/bb");
  EXPECT_EQ(SymbolFilePath("/a/x\ny"), "/xy");
  EXPECT_EQ(SymbolFilePath("/" + std::string(300, 'x')), "/unknown");
}

TEST(GeneratedSymbolFiles, IsWrittenWherePerfLooks) {
  const TempDir directory;
  const GeneratedSymbolFile file = FileOf("/bin/app");
  GeneratedSymbolFiles files;
  ASSERT_THAT(files.Write(file, directory / "symbols"), IsOk());
  const std::string id = file.build_id.hex();
  const fs::path link = directory / "symbols" / ".build-id" / id.substr(0, 2) / id.substr(2);
  EXPECT_EQ(elf::ElfFile::Open(link / "elf")->build_id(), file.build_id);
  EXPECT_EQ(fs::canonical(link), fs::canonical(directory / "symbols/bin/app" / id));
}

TEST(GeneratedSymbolFiles, RemovesFilesThatAreNotKept) {
  const TempDir directory;
  { EXPECT_THAT(GeneratedSymbolFiles().Write(FileOf("/bin/app"), directory / "symbols"), IsOk()); }
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(GeneratedSymbolFiles, LeavesWhatWasThere) {
  const TempDir directory;
  GeneratedSymbolFiles kept;
  ASSERT_THAT(kept.Write(FileOf("/bin/app"), directory.path()), IsOk());
  kept.Keep();
  { EXPECT_THAT(GeneratedSymbolFiles().Write(FileOf("/bin/app"), directory.path()), IsOk()); }
  const fs::path elf = directory / "bin/app" / FileOf("/bin/app").build_id.hex() / "elf";
  EXPECT_TRUE(fs::exists(elf));
}

TEST(WritePerfData, PutsNamesOfUserFramesIntoSymbolFiles) {
  const TempDir directory;
  ASSERT_THAT(
      WritePerfData(SmallProfile(), {.symbol_dir = directory / "symbols"}, directory / "out.data"),
      IsOk());
  EXPECT_TRUE(fs::exists(directory / "symbols/bin/app"));
}

TEST(WritePerfData, LeavesNoSymbolFileWhereTheDiskIsFull) {
  const TempDir devices;
  const auto full = MemoryDevice(devices, 7);
  if (!full) GTEST_SKIP() << "no device can be made in " << devices.path();
  const TempDir directory;
  EXPECT_THAT(WritePerfData(SmallProfile(), {.symbol_dir = directory / "symbols"}, *full),
              FailsWith(ErrorCode::kIo));
  EXPECT_TRUE(fs::is_empty(directory.path()));
}

TEST(WritePerfData, LeavesNoFileWhereTheSymbolsCannotBeWritten) {
  const TempDir directory;
  directory.Write("symbols", "a file, no directory");
  EXPECT_FALSE(
      WritePerfData(SmallProfile(), {.symbol_dir = directory / "symbols"}, directory / "out.data"));
  EXPECT_FALSE(fs::exists(directory / "out.data"));
}

}  // namespace
}  // namespace perftape::convert
